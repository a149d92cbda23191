/** The artifacts of a conversation as a list, with those that were deleted folded below. */

import { h, icon } from "../../conversations/js/dom.js";
import { gettext } from "../../conversations/js/language.js";
import { kindOf } from "./naming.js";

/**
 * @param {import("./shelf.js").Shelf} shelf
 * @param {{isBinOpen: boolean, onOpen: (id: string) => void, onRestore: (id: string) => void}} options
 * @returns {HTMLElement[]}
 */
export function shelfList({ present, deleted }, { isBinOpen, onOpen, onRestore }) {
  const none = gettext(
    "Nothing has been made in this conversation yet. Ask for a document, a diagram, a table or a page.",
  );
  return [
    present.length
      ? h("ul", { class: "shelf" }, ...present.map((artifact) => entry(artifact, onOpen)))
      : h("p", { class: "quiet" }, none),
    ...(deleted.length ? [bin(deleted, isBinOpen, onRestore)] : []),
  ];
}

function entry(artifact, onOpen) {
  const facts = [kindOf(artifact), gettext("version {version}", { version: artifact.version })].join(" · ");
  return h(
    "li",
    {},
    h(
      "button",
      { type: "button", class: "shelf-entry", onclick: () => onOpen(artifact.id) },
      icon(`kind-${artifact.kind}`),
      h("span", { class: "shelf-title", dir: "auto" }, artifact.title),
      h("span", { class: "shelf-facts" }, facts),
    ),
  );
}

function bin(deleted, open, onRestore) {
  const deletedEntry = ({ id, title }) => {
    const label = gettext("Restore “{title}”", { title });
    const restore = { type: "button", class: "button small", onclick: () => onRestore(id), "aria-label": label };
    return h(
      "li",
      {},
      h("span", { class: "shelf-title", dir: "auto" }, title),
      h("button", restore, gettext("Restore")),
    );
  };
  return h(
    "details",
    { class: "bin", open },
    h("summary", {}, gettext("Deleted ({count})", { count: deleted.length })),
    h("ul", {}, ...deleted.map(deletedEntry)),
  );
}
