# SPDX-License-Identifier: Apache-2.0
"""The same with asyncio."""

import asyncio
import os

from clew_client import AsyncClew


async def main() -> None:
    clew = AsyncClew(os.environ.get("CLEW_URL", "http://127.0.0.1:2539"), os.environ.get("CLEW_KEY"))
    await clew.remember({"user_id": "ada", "role": "user", "content": "The boat is called Adelheid."})
    found = await clew.recall("What is the boat called?", user_id="ada")
    print(found["items"][0]["text"])


asyncio.run(main())
