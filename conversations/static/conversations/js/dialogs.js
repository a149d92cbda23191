/** Questions and the menu of a thread. */

import { byId, h } from "./dom.js";

/** @returns {Promise<boolean>} whether the answer was yes */
export function confirmed({ title, text, yes }) {
  const dialog = byId("confirm");
  byId("confirm-title").textContent = title;
  byId("confirm-text").textContent = text;
  byId("confirm-yes").textContent = yes;
  dialog.returnValue = "cancel";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}

/** A menu below a button. @param {HTMLElement} button @param {{label: string, danger?: boolean, run: () => void}[]} items */
export function openMenu(button, items) {
  const menu = byId("menu");
  const run = (item) => () => {
    menu.hidePopover();
    item.run();
  };
  menu.replaceChildren(
    ...items.map((item) =>
      h("button", { type: "button", role: "menuitem", class: item.danger ? "menu-item danger" : "menu-item", onclick: run(item) }, item.label),
    ),
  );
  menu.onkeydown = (event) => walk(event, [...menu.children]);
  menu.showPopover();
  place(menu, button.getBoundingClientRect());
  menu.firstElementChild.focus();
}

function walk(event, items) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const index = items.indexOf(document.activeElement) + step;
  items.at(index % items.length).focus();
}

function place(menu, anchor) {
  const { width, height } = menu.getBoundingClientRect();
  const below = anchor.bottom + height + 8 < innerHeight;
  menu.style.left = `${Math.max(8, Math.min(anchor.right - width, innerWidth - width - 8))}px`;
  menu.style.top = `${below ? anchor.bottom + 4 : anchor.top - height - 4}px`;
}
