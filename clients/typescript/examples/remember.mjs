/* SPDX-License-Identifier: Apache-2.0 */
/* Store what is said, find it again. CLEW_URL and CLEW_KEY say where. */
import { Clew } from "clew-client";

const clew = new Clew({ url: process.env.CLEW_URL, key: process.env.CLEW_KEY });

await clew.remember({ user_id: "ada", role: "user", content: "My sister Mary moved to Lisbon in May." });
const { items } = await clew.recall("Where does Mary live?", { user_id: "ada" });
console.log(items[0].text);
