/** Temporary chats: the switch at a new conversation, the bar that says so all the time, and closing one. */

import { api } from "./api.js";
import { byId } from "./dom.js";
import { gettext } from "./language.js";

export class TemporaryChat {
  /**
   * @param {import("./announce.js").Announcer} announcer
   * @param {{
   *   onSwitched: (temporary: boolean) => void,
   *   onChanged: (thread: Thread) => void,
   *   onClosed: (thread: Thread) => void,
   *   onError: (words: string) => void,
   * }} on
   */
  constructor(announcer, on) {
    this.announcer = announcer;
    this.on = on;
    this.isOffered = JSON.parse(byId("page").textContent).switches.includes("temporary_chats");
    byId("temporary").addEventListener("click", () => this.toggle());
    byId("temporary-memory").addEventListener("change", (event) => this.#useMemory(event.target));
    byId("temporary-close").addEventListener("click", () => this.#close());
  }

  /** @param {Thread} thread the one that is open */
  show(thread) {
    const { id, temporary, remembers } = thread;
    this.thread = thread;
    const isNew = id === "new";
    byId("temporary").hidden = !isNew || !this.isOffered;
    byId("temporary").setAttribute("aria-pressed", String(Boolean(temporary)));
    byId("temporary-bar").hidden = !temporary;
    byId("temporary-more").hidden = isNew;
    byId("temporary-memory").checked = remembers === true;
    byId("book-temporary").hidden = !temporary;
    document.body.classList.toggle("is-temporary", Boolean(temporary));
  }

  /** At a new conversation: whether what is written next begins a temporary one. */
  toggle() {
    if (this.thread.id !== "new" || !this.isOffered) return;
    const temporary = !this.thread.temporary;
    this.on.onSwitched(temporary);
    this.announcer.say(temporary ? gettext("Temporary chat.") : gettext("Not a temporary chat."));
  }

  async #useMemory(box) {
    try {
      this.on.onChanged(await api.patch(`threads/${this.thread.id}/`, { remembers: box.checked }));
    } catch (error) {
      box.checked = !box.checked;
      this.on.onError(error.message);
    }
  }

  async #close() {
    const { thread } = this;
    let held;
    try {
      held = (await api.delete(`threads/${thread.id}/`))?.held ?? "";
    } catch (error) {
      if (error.status !== 404) return this.on.onError(error.message);
    }
    this.announcer.say(gettext("The temporary chat is closed, and gone."));
    this.on.onClosed(thread);
    return held && this.on.onError(held);
  }
}
