/** Open topics: resolved, and opened again, each where it stands until the page is loaded anew. */

import { api } from "../../conversations/js/api.js";
import { byId } from "../../conversations/js/dom.js";
import { gettext } from "../../conversations/js/language.js";
import { fail } from "./notes.js";

/** @param {(words: string) => void} say */
export function wireTopics(say) {
  byId("topics").addEventListener("click", async (event) => {
    const button = event.target.closest("[data-act=toggle]");
    if (!button || button.disabled) return;
    const element = button.closest("[data-topic]");
    const resolved = !element.classList.contains("resolved");
    button.disabled = true;
    try {
      await api.patch(`topics/${element.dataset.topic}/`, { resolved });
      fail("topic-error", null);
      show(element, button, resolved);
      say(resolved ? gettext("Resolved. It is no longer brought up.") : gettext("Open again."));
    } catch (failure) {
      fail("topic-error", failure);
    }
    button.disabled = false;
    button.focus();
  });
}

function show(element, button, resolved) {
  const open = element.closest("#topic-list") !== null;
  element.classList.toggle("resolved", resolved);
  const word = resolved ? (open ? gettext("Undo") : gettext("Open again")) : gettext("Resolved");
  button.textContent = word;
  button.setAttribute("aria-label", `${word}: ${element.querySelector(".topic-title").textContent}`);
}
