/**
 * A reply that ends while the person looks elsewhere: the title counts it, and where that is switched on the browser
 * says so – without a word of the reply, unless that is switched on as well.
 */

import { gettext } from "./language.js";
import { canNotify, settingsOf } from "./settings.js";

const LONG = 5000; // milliseconds: what is quicker is waited for
const MOST_WORDS = 160; // characters

export class Notices {
  #unseen = 0;
  #since = 0;
  #title = "";

  /** @param {Store} store */
  constructor(store) {
    this.store = store;
    document.addEventListener("visibilitychange", () => document.hidden || this.#seen());
  }

  /** What the window is called, with how many replies ended unseen. */
  title(words) {
    this.#title = words;
    document.title = this.#unseen ? `(${this.#unseen}) ${words}` : words;
  }

  running(isRunning) {
    if (isRunning) this.#since ||= Date.now();
    else this.#since = 0;
  }

  /** @param {{id: string}} thread @param {string} text of the reply, which may be empty */
  ended(thread, text) {
    const isLong = this.#since > 0 && Date.now() - this.#since >= LONG;
    this.#since = 0;
    if (!document.hidden) return;
    this.#unseen += 1;
    this.title(this.#title);
    navigator.setAppBadge?.(this.#unseen).catch(() => {});
    const { notify, notifyWords } = settingsOf(this.store);
    if (isLong && notify && canNotify && Notification.permission === "granted") {
      const words = notifyWords && text.replace(/\s+/g, " ").trim().slice(0, MOST_WORDS);
      tell(words || gettext("A reply has ended."), thread.id).catch(console.info);
    }
  }

  #seen() {
    this.#unseen = 0;
    this.title(this.#title);
    navigator.clearAppBadge?.().catch(() => {});
  }
}

/** By the worker where there is one: phones take it from nobody else, and a click finds the window. */
async function tell(body, thread) {
  const path = `/threads/${thread}/`;
  const options = { body, tag: path, data: { path }, icon: "/static/conversations/icons/icon-192.png" };
  const registration = await navigator.serviceWorker?.getRegistration();
  if (registration) await registration.showNotification("Openbook", options);
  else new Notification("Openbook", options).addEventListener("click", () => focus());
}
