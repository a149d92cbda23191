/** One thread in the list: a link with its menu, a box to tick, or the field for another title. */

import { h, icon, iconButton } from "./dom.js";
import { gettext } from "./language.js";

export const nameOfThread = (thread) => thread.title || gettext("New conversation");

/**
 * @param {Thread} thread
 * @param {{current: boolean, onOpen: (thread: Thread) => void, onMenu: (thread: Thread, button: HTMLElement) => void}}
 *   on
 */
export function linkRow(thread, { current, onOpen, onMenu }) {
  const follow = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return; // a new tab or window
    event.preventDefault();
    if (event.detail < 2) onOpen(thread); // the second of a double click renames
  };
  const link = h(
    "a",
    { href: `/threads/${thread.id}/`, draggable: "false", "aria-current": current && "page", onclick: follow },
    ...content(thread),
  );
  const label = gettext("What to do with “{title}”", { title: nameOfThread(thread) });
  const more = iconButton("more", label, () => onMenu(thread, more), { "aria-haspopup": "menu" });
  return h("li", { "data-thread": thread.id, draggable: "true" }, link, more);
}

/** @param {Thread} thread @param {{ticked: boolean, onTick: (thread: Thread, ticked: boolean) => void}} on */
export function tickRow(thread, { ticked, onTick }) {
  const box = h("input", {
    type: "checkbox",
    checked: ticked,
    onchange: () => onTick(thread, box.checked),
  });
  const label = h("label", { class: "tick" }, box, ...content(thread));
  return h("li", { "data-thread": thread.id, draggable: "true" }, label);
}

function content(thread) {
  const tags = thread.tags ?? [];
  return [
    h(
      "span",
      { class: "thread-words" },
      h("span", { class: "title", dir: "auto" }, nameOfThread(thread)),
      tags.length > 0 &&
        h(
          "span",
          { class: "thread-tags" },
          h("span", { class: "visually-hidden" }, ", "),
          h("bdi", {}, tags.join(", ")),
        ),
    ),
    thread.remembers === false &&
      h(
        "span",
        { class: "unremembered", title: gettext("Not remembered") },
        icon("note-off"),
        h("span", { class: "visually-hidden" }, gettext(", not remembered")),
      ),
  ];
}

/**
 * The field for another title; what was typed stays while the list changes around it.
 * @param {Thread} thread
 * @param {(title: string | null) => void} onDone null: it stays as it is
 */
export function titleField(thread, onDone) {
  const input = h("input", { type: "text", value: thread.title, maxlength: 200, "aria-label": gettext("New title") });
  input.addEventListener("blur", () => onDone(input.value.trim()));
  input.addEventListener("keydown", (event) => {
    event.stopPropagation(); // Esc here must not stop a reply
    if (event.key === "Enter") onDone(input.value.trim());
    if (event.key === "Escape") onDone(null);
  });
  return input;
}
