/** On pages of people whose sign-in ends when nobody is there: who reads or writes for long, is there. */

import { api } from "./api.js";
import { byId } from "./dom.js";
import { keepPresent } from "./presence.js";

const page = JSON.parse(byId("page").textContent);
keepPresent(page.idle_minutes, () => void api.get("session/").catch(() => {}));
