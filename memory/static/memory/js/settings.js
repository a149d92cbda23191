/** Whether anything is remembered, and in which time zone the days begin. */

import { api } from "../../conversations/js/api.js";
import { byId, h } from "../../conversations/js/dom.js";
import { gettext } from "../../conversations/js/language.js";
import { fail } from "./notes.js";

/** @param {(words: string) => void} say */
export function wireSwitch(say) {
  const input = byId("remembers");
  input.addEventListener("change", async () => {
    try {
      const { remembers } = await api.patch("preferences/", { remembers: input.checked });
      byId("off-note").hidden = remembers;
      fail("remembers-error", null);
      say(remembers ? gettext("Memory is on.") : gettext("Memory is off."));
    } catch (failure) {
      input.checked = !input.checked;
      fail("remembers-error", failure);
    }
  });
}

/** Browsers know hundreds of zones; they are listed once somebody wants to choose. */
export function wireZone() {
  const select = byId("zone");
  byId("zone-fold").addEventListener("toggle", () => fill(select), { once: true });
  select.addEventListener("change", async () => {
    try {
      await api.patch("preferences/", { time_zone: select.value });
      location.reload(); // other days, other words
    } catch (failure) {
      select.value = byId("zone-name").textContent;
      fail("zone-error", failure);
    }
  });
}

function fill(select) {
  const chosen = byId("zone-name").textContent;
  const names = [...new Set([chosen, "UTC", ...Intl.supportedValuesOf("timeZone")])].sort();
  select.replaceChildren(
    ...names.map((name) => h("option", { value: name, selected: name === chosen }, name.replaceAll("_", " "))),
  );
}
