/** Puts the memory page together. What the server rendered can be read without it. */

import { Announcer } from "../../conversations/js/announce.js";
import { byId } from "../../conversations/js/dom.js";
import { settleZone } from "../../conversations/js/zone.js";
import { Calendar } from "./calendar.js";
import { Notes } from "./notes.js";
import { wireSwitch, wireZone } from "./settings.js";
import { wireTopics } from "./topics.js";
import { dayIn } from "./words.js";

const page = JSON.parse(byId("page").textContent);
const announcer = new Announcer(byId("announcer"));
const say = (words) => announcer.say(words);

const notes = new Notes({ day: dayIn(byId("zone-name").textContent), say });
new Calendar();
wireTopics(say);
wireSwitch(say);
wireZone();
notes.openNamed();
byId("memory").dataset.ready = "";
settleZone(page.zone).then((zone) => {
  if (!zone) return;
  byId("zone-name").textContent = zone;
  notes.day = dayIn(zone);
});
