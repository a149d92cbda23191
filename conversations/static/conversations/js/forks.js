/** Conversations that go on from a turn of another one, and the ways between the two. */

import { api } from "./api.js";
import { openMenu } from "./dialogs.js";
import { byId } from "./dom.js";
import { gettext } from "./language.js";

const MOST_IN_MENU = 30;

/** @returns {Promise<Thread>} as it is listed, or as the server has it */
async function known(id, list) {
  return list.find(id) ?? (await api.get(`threads/${id}/`));
}

/**
 * The conversations that were forked from one, the newest first.
 * @param {HTMLElement} button @param {Thread} thread @param {import("./threads.js").ThreadList} list
 * @param {{onOpen: (thread: Thread) => void, onError: (words: string) => void}} on
 */
export async function openForks(button, thread, list, { onOpen, onError }) {
  try {
    const newest = thread.forks.slice(-MOST_IN_MENU).reverse();
    const forks = await Promise.all(newest.map((id) => known(id, list)));
    const items = forks.map((fork) => ({
      label: fork.title || gettext("New conversation"),
      run: () => onOpen(fork),
    }));
    openMenu(button, items, { label: gettext("Forks of this conversation") });
  } catch (error) {
    onError(error.message);
  }
}

export class Forks {
  #shown = "";

  /**
   * @param {import("./threads.js").ThreadList} list
   * @param {{
   *   onForked: (thread: Thread, source: Thread) => void,
   *   onOpen: (thread: Thread) => void,
   *   onError: (words: string) => void,
   * }} on
   */
  constructor(list, on) {
    this.list = list;
    this.on = on;
  }

  /** @param {Thread} thread @param {Message} message up to which its path is copied */
  async from(thread, message) {
    try {
      const fork = await api.post(`threads/${thread.id}/fork/`, { message: message.id });
      this.list.touch(fork);
      this.on.onForked(fork, thread);
    } catch (error) {
      this.on.onError(error.message);
    }
  }

  /** In the head of a conversation, which one it was forked from. @param {Thread} thread */
  async showSource({ id, forked_from: from }) {
    const line = byId("forked-from");
    const link = /** @type {HTMLAnchorElement} */ (byId("forked-from-link"));
    if (this.#shown !== id || !from) line.hidden = true;
    this.#shown = id;
    if (!from) return;
    const source = await known(from.thread, this.list).catch(() => null);
    if (!source || this.#shown !== id) return;
    link.href = `/threads/${source.id}/`;
    link.textContent = source.title || gettext("New conversation");
    link.onclick = (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.on.onOpen(source);
    };
    line.hidden = false;
  }
}
