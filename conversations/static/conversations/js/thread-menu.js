/** What a person does with a conversation as a whole: rename, remember, clear, delete; and forgetting a turn. */

import { api } from "./api.js";
import { clear } from "./clearing.js";
import { confirmed, openMenu } from "./dialogs.js";
import { byId } from "./dom.js";
import { forget } from "./forgetting.js";

export class ThreadMenu {
  /**
   * @param {{
   *   list: import("./threads.js").ThreadList,
   *   drawer: import("./drawer.js").Drawer,
   *   announcer: import("./announce.js").Announcer,
   * }} page
   * @param {{
   *   onChanged: (thread: Thread) => void,
   *   onCleared: (thread: Thread) => void,
   *   onDeleted: (thread: Thread) => void,
   *   onForgotten: (thread: Thread, turns: string[], artifacts: number) => void,
   *   onError: (words: string) => void,
   * }} on
   */
  constructor({ list, drawer, announcer }, on) {
    this.list = list;
    this.drawer = drawer;
    this.announcer = announcer;
    this.on = on;
  }

  /** @param {Thread} thread @param {HTMLElement} button */
  open(thread, button) {
    openMenu(button, [
      { label: "Rename", run: () => this.#rename(thread) },
      {
        label: "Remember this conversation",
        hint: "Off: it is given no memories, and leaves none.",
        checked: thread.remembers !== false,
        run: () => this.#remember(thread, thread.remembers === false),
      },
      {
        label: "Clear…",
        hint: "Forgets all its turns, keeps the conversation.",
        danger: true,
        run: () => this.#clear(thread),
      },
      { label: "Delete…", danger: true, run: () => this.#delete(thread) },
    ]);
  }

  /** @param {Thread} thread @param {Row} message */
  async forgetTurn(thread, message) {
    const mine = message.role === "user";
    const done = await forget({
      path: `messages/${message.id}/`,
      title: mine ? "Forget what you said here?" : "Forget this reply?",
      lead: "Its place in the conversation stays, its words go, and with them what rests on it:",
    });
    if (!done) return;
    this.on.onForgotten(thread, [message.id, ...done.turns.map((turn) => turn.message)], done.artifacts);
    this.announcer.say("Forgotten.");
  }

  #rename(thread) {
    this.drawer.open();
    byId("search").value = "";
    if (!this.list.find(thread.id)) this.list.touch(thread);
    this.list.rename(thread.id);
  }

  async #remember(thread, remembers) {
    try {
      this.on.onChanged(await api.patch(`threads/${thread.id}/`, { remembers }));
      this.announcer.say(remembers ? "This conversation is remembered." : "This conversation is not remembered.");
    } catch (error) {
      this.on.onError(error.message);
    }
  }

  async #clear(thread) {
    if (!(await clear(thread))) return;
    this.announcer.say("The conversation is cleared.");
    this.on.onCleared(thread);
  }

  async #delete(thread) {
    const title = thread.title || "New conversation";
    const recorded = "with what was recorded about its requests";
    const text = `“${title}” and all its turns are deleted, ${recorded}. This can't be undone.`;
    if (!(await confirmed({ title: "Delete this conversation?", text, yes: "Delete conversation" }))) return;
    try {
      await api.delete(`threads/${thread.id}/`);
    } catch (error) {
      this.on.onError(error.message);
      return;
    }
    this.list.remove(thread.id);
    this.announcer.say(`“${title}” is deleted.`);
    this.on.onDeleted(thread);
  }
}
