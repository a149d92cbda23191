/** The keys that work everywhere on the page. */

import { byId } from "./dom.js";

const APPLE = /Mac|iPhone|iPad/.test(navigator.platform);

/**
 * @param {{search: () => void, create: () => void, temporary: () => void, stop: () => void, print: () => boolean}}
 *   actions `print` says whether there is something to print
 */
export function wireShortcuts({ search, create, temporary, stop, print }) {
  const dialog = byId("shortcuts");
  const showList = () => dialog.open || dialog.showModal();
  byId("show-shortcuts").addEventListener("click", showList);
  if (APPLE) nameAppleKeys();
  document.addEventListener("keydown", (event) => {
    const key = event.key.toLowerCase();
    const modified = APPLE ? event.metaKey : event.ctrlKey;
    if (modified && key === "k") perform(event, search);
    else if (modified && key === "/") perform(event, showList);
    else if (modified && event.shiftKey && key === "o") perform(event, create);
    else if (modified && event.shiftKey && key === "l") perform(event, temporary);
    else if (modified && key === "p" && !event.shiftKey && print()) event.preventDefault();
    else if (key === "escape" && !event.defaultPrevented && !somethingOpen()) stop();
  });
}

function perform(event, action) {
  event.preventDefault();
  action();
}

/** Esc closes these first. */
function somethingOpen() {
  return document.querySelector("dialog[open], :popover-open") !== null;
}

function nameAppleKeys() {
  for (const key of document.querySelectorAll("[data-mod]")) key.textContent = "⌘";
  byId("search-key").textContent = "⌘ K";
}
