/**
 * Copies a new token. The clipboard exists on https and localhost only; elsewhere the text is selected to be copied by
 * hand.
 */

import { byId } from "./dom.js";
import { gettext } from "./language.js";

/** @type {HTMLInputElement | null} */
const field = document.querySelector("#token");

async function copy() {
  try {
    await navigator.clipboard.writeText(field.value);
    byId("copied").textContent = gettext("Copied.");
  } catch {
    field.select();
    byId("copied").textContent = gettext(
      "This browser doesn’t let a page copy here. The token is selected: copy it by hand.",
    );
  }
}

if (field) {
  byId("copy").hidden = false;
  byId("copy").addEventListener("click", copy);
  field.addEventListener("focus", () => field.select());
}
