/** Questions and the menu of a thread. */

import { byId, h, icon } from "./dom.js";
import { gettext } from "./language.js";

let answered = () => {};

/** @returns {Promise<boolean>} whether the answer was yes */
export function confirmed({ title, text, yes }) {
  const dialog = byId("confirm");
  answered(); // the question before: its dialog has closed, but the event of that may be still to come
  byId("confirm-title").textContent = title;
  byId("confirm-text").textContent = text;
  byId("confirm-yes").textContent = yes;
  dialog.returnValue = "cancel";
  dialog.showModal();
  return new Promise((resolve) => {
    const closed = () => dialog.open || answered();
    answered = () => {
      dialog.removeEventListener("close", closed);
      resolve(dialog.returnValue === "yes");
    };
    dialog.addEventListener("close", closed);
  });
}

/**
 * A menu below a button, or above it where there is no room.
 * @param {HTMLElement} button
 * @param {{label: string, hint?: string, danger?: boolean, disabled?: boolean, checked?: boolean, run: () => void}[]}
 *   items
 * @param {{note?: string, atStart?: boolean, label?: string, oneOf?: boolean}} [options] `note` stands above the
 *   items, such as why nothing can be chosen now; `atStart` aligns the left edges; `label` is what the menu is called;
 *   `oneOf`: exactly one of the items is checked
 */
export function openMenu(button, items, { note = "", atStart = false, label = "", oneOf = false } = {}) {
  const menu = byId("menu");
  const run = (item) => () => {
    menu.hidePopover();
    item.run();
  };
  const entry = (item) =>
    h(
      "button",
      {
        type: "button",
        role: item.checked === undefined ? "menuitem" : oneOf ? "menuitemradio" : "menuitemcheckbox",
        "aria-checked": item.checked === undefined ? null : String(item.checked),
        class: item.danger ? "menu-item danger" : "menu-item",
        "aria-disabled": item.disabled && "true",
        onclick: item.disabled ? null : run(item),
      },
      item.checked !== undefined &&
        h("span", { class: "menu-check", "aria-hidden": "true" }, item.checked && icon("check")),
      item.hint
        ? h(
            "span",
            { class: "menu-words" },
            h("span", { class: "menu-label" }, item.label),
            h("span", { class: "menu-hint" }, item.hint),
          )
        : h("span", { class: "menu-label" }, item.label),
    );
  const entries = items.map(entry);
  menu.replaceChildren(...(note ? [h("p", { class: "menu-note", id: "menu-note" }, note)] : []), ...entries);
  if (note) menu.setAttribute("aria-describedby", "menu-note");
  else menu.removeAttribute("aria-describedby");
  if (label) menu.setAttribute("aria-label", label);
  else menu.removeAttribute("aria-label");
  menu.onkeydown = (event) => walk(event, entries);
  menu.showPopover();
  place(menu, button.getBoundingClientRect(), atStart);
  (entries.find((each) => oneOf && each.getAttribute("aria-checked") === "true") ?? entries[0]).focus();
}

/**
 * Where threads are moved to.
 * @param {HTMLElement} button
 * @param {import("./thread-groups.js").Project[]} projects
 * @param {(project: string | null) => void} onChosen null: out of all projects
 * @param {string | null} [current] where they are now; left out where that differs
 */
export function openProjects(button, projects, onChosen, current) {
  const item = (id, label) => ({
    label,
    checked: current === undefined ? undefined : id === current,
    run: () => onChosen(id),
  });
  const items = projects.map(({ id, name }) => item(id, name));
  openMenu(button, [item(null, gettext("Outside of all projects")), ...items], {
    oneOf: current !== undefined,
    label: gettext("Move to a project"),
  });
}

function walk(event, items) {
  const at = items.indexOf(document.activeElement);
  const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  items.at(next % items.length).focus();
}

function place(menu, anchor, atStart) {
  const { width, height } = menu.getBoundingClientRect();
  const below = anchor.bottom + height + 8 < innerHeight;
  menu.style.left = `${Math.max(8, Math.min(atStart ? anchor.left : anchor.right - width, innerWidth - width - 8))}px`;
  menu.style.top = `${below ? anchor.bottom + 4 : Math.max(8, anchor.top - height - 4)}px`;
}
