# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel and the source archive with the standard library alone.

PEP 517's hooks: `pip install .` and `python3 -m build` call them; without
either, `python3 _build.py FOLDER` writes both. The same sources give the same
bytes.
"""

import base64
import hashlib
import io
import os
import sys
import tarfile
import tomllib
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
TIME = (2020, 1, 1, 0, 0, 0)


def _project():
    with open(os.path.join(HERE, "pyproject.toml"), "rb") as file:
        return tomllib.load(file)["project"]


def _name():
    project = _project()
    return f"{project['name'].replace('-', '_')}-{project['version']}"


def _read(name):
    with open(os.path.join(HERE, name), "rb") as file:
        return file.read()


def _metadata():
    project = _project()
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"License: {project['license']['text']}",
        f"Requires-Python: {project['requires-python']}",
        "Description-Content-Type: text/markdown",
    ]
    return ("\n".join(lines) + "\n\n").encode() + _read("README.md")


def _package():
    folder = os.path.join(HERE, "clew_client")
    return sorted(
        f"clew_client/{name}"
        for name in os.listdir(folder)
        if name.endswith(".py") or name == "py.typed"
    )


def get_requires_for_build_wheel(config_settings=None):
    return []


def get_requires_for_build_sdist(config_settings=None):
    return []


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    info = f"{_name()}.dist-info"
    files = {name: _read(name) for name in _package()}
    files[f"{info}/METADATA"] = _metadata()
    files[f"{info}/WHEEL"] = (
        b"Wheel-Version: 1.0\nGenerator: clew\n"
        b"Root-Is-Purelib: true\nTag: py3-none-any\n"
    )
    files[f"{info}/LICENSE"] = _read("LICENSE")
    record = ""
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
        record += f"{name},sha256={digest.rstrip(b'=').decode()},{len(data)}\n"
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    wheel = f"{_name()}-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, wheel), "w") as out:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, TIME)
            entry.external_attr = 0o644 << 16
            out.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return wheel


def build_sdist(sdist_directory, config_settings=None):
    names = ["LICENSE", "README.md", "_build.py", "pyproject.toml", *_package()]
    files = {name: _read(name) for name in names}
    files["PKG-INFO"] = _metadata()
    archive = f"{_name()}.tar.gz"
    with tarfile.open(os.path.join(sdist_directory, archive), "w:gz") as out:
        for name, data in files.items():
            entry = tarfile.TarInfo(f"{_name()}/{name}")
            entry.size = len(data)
            out.addfile(entry, io.BytesIO(data))
    return archive


if __name__ == "__main__":
    print(build_wheel(sys.argv[1]))
    print(build_sdist(sys.argv[1]))
