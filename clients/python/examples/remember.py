# SPDX-License-Identifier: Apache-2.0
"""Store what is said, find it again. CLEW_URL and CLEW_KEY say where."""

import os

from clew_client import Clew

clew = Clew(os.environ.get("CLEW_URL", "http://127.0.0.1:2539"), os.environ.get("CLEW_KEY"))
clew.remember({"user_id": "ada", "role": "user", "content": "My sister Mary moved to Lisbon in May."})
print(clew.recall("Where does Mary live?", user_id="ada")["items"][0]["text"])
