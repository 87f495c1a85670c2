# SPDX-License-Identifier: Apache-2.0
"""The wheel has what it should, and the examples run from it."""

import os
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

from .support import Server

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)


class TestWheel(unittest.TestCase):
    def test_the_examples_run_from_the_wheel(self):
        with tempfile.TemporaryDirectory() as folder:
            built = subprocess.run([sys.executable, os.path.join(ROOT, "_build.py"), folder],
                                   check=True, capture_output=True, text=True, cwd=folder).stdout.split()
            wheel, archive = (os.path.join(folder, name) for name in built)
            names = zipfile.ZipFile(wheel).namelist()
            self.assertIn("clew_client/py.typed", names)
            self.assertIn("clew_client-0.1.0.dist-info/RECORD", names)
            self.assertIn("clew_client-0.1.0/pyproject.toml", tarfile.open(archive).getnames())
            server = Server()
            try:
                for example, want in (("remember.py", "Lisbon"), ("remember_async.py", "Adelheid")):
                    env = {"PATH": os.environ["PATH"], "PYTHONPATH": wheel, "CLEW_URL": server.url}
                    out = subprocess.run([sys.executable, os.path.join(ROOT, "examples", example)], env=env,
                                         cwd=folder, check=True, capture_output=True, text=True, timeout=600)
                    self.assertIn(want, out.stdout)
            finally:
                server.stop()


if __name__ == "__main__":
    unittest.main()
