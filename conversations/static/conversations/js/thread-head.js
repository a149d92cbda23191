/** The head of the open conversation: what it is called, who answers, and what is special about it. */

import { api } from "./api.js";
import { byId } from "./dom.js";
import { gettext } from "./language.js";

const TITLE_SECONDS = [2, 4, 8, 16];

export class ThreadHead {
  /**
   * @param {{
   *   assistants: {slug: string, name: string}[],
   *   store: Store & { keepInTab: (thread: string, only: boolean) => void },
   *   notices: import("./notices.js").Notices,
   *   forks: import("./forks.js").Forks,
   *   temporaryChat: import("./temporary.js").TemporaryChat,
   * }} page
   */
  constructor(page) {
    this.page = page;
  }

  /** @param {Thread} thread @returns {string} what its assistant is called; empty: nobody knows yet */
  show(thread) {
    const { id, title, assistant, remembers, archived } = thread;
    const { assistants, store, temporaryChat, forks, notices } = this.page;
    const name = assistants.find(({ slug }) => slug === assistant)?.name ?? assistant ?? "";
    byId("title").textContent = title || gettext("New conversation");
    byId("assistant-name").textContent = name;
    byId("thread-menu").hidden = id === "new";
    byId("unremembered").hidden = remembers !== false || Boolean(thread.temporary);
    byId("archived").hidden = !archived;
    store.keepInTab(id, Boolean(thread.temporary));
    temporaryChat.show(thread);
    forks.showSource(thread);
    notices.title(title ? gettext("{title} · Openbook", { title }) : "Openbook");
    return name;
  }
}

/** A model names a conversation soon after its first exchange. @param {Thread} thread */
export async function newTitle({ id, title }) {
  for (const seconds of TITLE_SECONDS) {
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    const thread = await api.get(`threads/${id}/`).catch(() => null);
    if (!thread || thread.title !== title) return thread;
  }
  return null;
}
