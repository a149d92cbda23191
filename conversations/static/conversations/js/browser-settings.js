/** On the page of one's account: what is on in this browser. */

import { byId, elements } from "./dom.js";
import { gettext } from "./language.js";
import { canNotify, changeSettings, Recognition, settingsOf } from "./settings.js";
import { storeOf } from "./storage.js";

const page = JSON.parse(byId("page").textContent);
const store = storeOf(page.user.id);
const section = byId("browser");
const note = byId("browser-note");

for (const input of elements(section, "input[role=switch]")) {
  if (!(input instanceof HTMLInputElement)) continue;
  input.addEventListener("change", () => changed(input));
}
byId("of-notify").hidden = byId("of-notify-words").hidden = !canNotify;
byId("of-dictation").hidden = !Recognition;
section.hidden = !canNotify && !Recognition;
show();

function show() {
  const settings = settingsOf(store);
  const allowed = canNotify && Notification.permission === "granted";
  byId("notify").checked = settings.notify && allowed;
  byId("notifyWords").checked = settings.notifyWords;
  byId("notifyWords").disabled = !byId("notify").checked;
  byId("dictation").checked = settings.dictation;
}

/** @param {HTMLInputElement} input */
async function changed(input) {
  note.textContent = "";
  if (input.id === "notify" && input.checked && (await Notification.requestPermission()) !== "granted") {
    note.textContent = gettext(
      "Your browser does not allow it. Allow notifications for this page in its settings first.",
    );
    input.checked = false;
  }
  changeSettings(store, { [input.id]: input.checked });
  show();
}
