/** What a file holds and none of its parts does: a line, and on unfolding why and where. */

import { h } from "./dom.js";
import { unreadOf } from "./file-words.js";

/** @param {Row} info as `GET files/{id}/` gives it @returns {HTMLElement | null} null where nothing was left out */
export function unreadFold(info) {
  const line = unreadOf(info);
  if (!line) return null;
  const entries = info.left_out.map(({ text }) => h("li", { dir: "auto" }, text));
  return h("details", { class: "unread" }, h("summary", {}, line), h("ul", {}, ...entries));
}
