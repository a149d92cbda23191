/** Below 760 px the list of threads is a drawer: it takes the focus when it opens and gives it back. */

import { byId } from "./dom.js";

export class Drawer {
  constructor() {
    this.sidebar = byId("sidebar");
    this.scrim = byId("scrim");
    this.opener = byId("open-drawer");
    this.narrow = matchMedia("(max-width: 759px)");
    this.opener.addEventListener("click", () => this.open());
    byId("close-drawer").addEventListener("click", () => this.close());
    this.scrim.addEventListener("click", () => this.close());
    this.sidebar.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.isOpen || event.defaultPrevented) return;
      event.preventDefault();
      this.close();
    });
    this.narrow.addEventListener("change", () => this.#set(false));
    this.#set(false);
  }

  open() {
    if (!this.narrow.matches) return;
    this.#set(true);
    byId("close-drawer").focus();
  }

  close() {
    if (!this.isOpen) return;
    this.#set(false);
    this.opener.focus();
  }

  #set(open) {
    this.isOpen = open;
    const hidden = this.narrow.matches && !open;
    this.sidebar.classList.toggle("open", open);
    this.sidebar.inert = hidden;
    byId("conversation").inert = open;
    this.scrim.hidden = !open;
    this.opener.setAttribute("aria-expanded", String(open));
  }
}
