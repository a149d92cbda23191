/** What is done with a whole conversation: rename, pin, tag, archive, print, clear, delete; and forgetting a turn. */

import { api } from "./api.js";
import { confirmed, openMenu, openProjects } from "./dialogs.js";
import { byId } from "./dom.js";
import { openForks } from "./forks.js";
import { gettext } from "./language.js";
import { loaded } from "./on-demand.js";

/** All its turns, for paper. @param {Thread} thread */
export function printPageOf(thread) {
  return `/threads/${thread.id}/print/`;
}

export class ThreadMenu {
  /**
   * @param {{
   *   list: import("./threads.js").ThreadList,
   *   drawer: import("./drawer.js").Drawer,
   *   announcer: import("./announce.js").Announcer,
   *   canShare: boolean,
   *   showsCosts?: boolean,
   * }} page
   * @param {{
   *   onChanged: (thread: Thread) => void,
   *   onCleared: (thread: Thread) => void,
   *   onDeleted: (thread: Thread) => void,
   *   onForgotten: (thread: Thread, turns: string[], artifacts: number) => void,
   *   onOpen: (thread: Thread) => void,
   *   onShare: (thread: Thread) => void,
   *   onError: (words: string) => void,
   * }} on
   */
  constructor({ list, drawer, announcer, canShare, showsCosts = false }, on) {
    this.showsCosts = showsCosts;
    this.list = list;
    this.drawer = drawer;
    this.announcer = announcer;
    this.canShare = canShare;
    this.on = on;
  }

  /** @param {Thread} thread @param {HTMLElement} button */
  async open(thread, button) {
    const print = { label: gettext("Print…"), run: () => location.assign(printPageOf(thread)) };
    if (thread.temporary) return openMenu(button, [print]); // the rest is in its bar, or of no use
    const note = this.showsCosts ? await costNote(thread) : "";
    const items = [
      { label: gettext("Rename"), run: () => this.#rename(thread) },
      thread.pinned
        ? { label: gettext("Unpin"), run: () => this.#change(thread, { pinned: false }, gettext("Unpinned.")) }
        : {
            label: gettext("Pin"),
            run: () => this.#change(thread, { pinned: true }, gettext("Pinned.")),
          },
      { label: gettext("Tags…"), run: () => this.#tag(thread) },
      ...(this.list.groups.projects.length
        ? [{ label: gettext("Move to a project…"), run: () => this.#move(thread, button) }]
        : []),
      thread.archived
        ? {
            label: gettext("Unarchive"),
            run: () => this.#change(thread, { archived: false }, gettext("It is listed again.")),
          }
        : {
            label: gettext("Archive"),
            hint: gettext("Takes it out of the list, keeps all of it."),
            run: () => this.#change(thread, { archived: true }, gettext("Archived.")),
          },
      {
        label: gettext("Remember this conversation"),
        hint: gettext("Off: it is given no memories, and leaves none."),
        checked: thread.remembers !== false,
        run: () => this.#remember(thread, thread.remembers === false),
      },
      { label: gettext("Instructions…"), run: () => this.#instruct(thread) },
      ...(thread.forks?.length
        ? [{ label: gettext("Forks of this conversation…"), run: () => openForks(button, thread, this.list, this.on) }]
        : []),
      {
        label: gettext("Schedule a message…"),
        run: () => location.assign(`/schedules/?thread=${thread.id}`),
      },
      print,
      ...(this.canShare ? [{ label: gettext("Share…"), run: () => this.on.onShare(thread) }] : []),
      {
        label: gettext("Clear…"),
        hint: gettext("Forgets all its turns, keeps the conversation."),
        danger: true,
        run: () => this.#clear(thread),
      },
      { label: gettext("Delete…"), danger: true, run: () => this.#delete(thread) },
    ];
    return openMenu(button, items, { note });
  }

  /** @param {Thread} thread @param {Row} message */
  async forgetTurn(thread, message) {
    const mine = message.role === "user";
    try {
      const { forget } = await loaded(import("./forgetting.js"));
      const done = await forget({
        path: `messages/${message.id}/`,
        title: mine ? gettext("Forget what you said here?") : gettext("Forget this reply?"),
        lead: gettext("Its place in the conversation stays, its words go, and with them what rests on it:"),
      });
      if (!done) return;
      this.on.onForgotten(thread, [message.id, ...done.turns.map((turn) => turn.message)], done.artifacts);
      this.announcer.say(gettext("Forgotten."));
    } catch (error) {
      this.on.onError(error.message);
    }
  }

  #rename(thread) {
    this.drawer.open();
    byId("search").value = "";
    if (!this.list.find(thread.id)) this.list.touch(thread);
    this.list.rename(thread.id);
  }

  #remember(thread, remembers) {
    return this.#change(
      thread,
      { remembers },
      remembers ? gettext("This conversation is remembered.") : gettext("This conversation is not remembered."),
    );
  }

  /** @param {string} words said once it is done */
  async #change(thread, changes, words) {
    try {
      this.on.onChanged(await api.patch(`threads/${thread.id}/`, changes));
      this.announcer.say(words);
    } catch (error) {
      this.on.onError(error.message);
    }
  }

  async #move(thread, button) {
    const move = (project) => this.#change(thread, { project }, gettext("The conversation is moved."));
    try {
      openProjects(button, await this.list.groups.all(), move, thread.project ?? null);
    } catch (error) {
      this.on.onError(error.message);
    }
  }

  async #tag(thread) {
    try {
      const { editTags } = await loaded(import("./thread-tags.js"));
      const changed = await editTags([thread]);
      if (!changed) return;
      changed.forEach(this.on.onChanged);
      this.announcer.say(gettext("The tags are changed."));
    } catch (error) {
      this.on.onError(error.message);
    }
  }

  async #instruct(thread) {
    try {
      const { editInstructions } = await loaded(import("./thread-instructions.js"));
      const changed = await editInstructions(thread);
      if (!changed) return;
      this.on.onChanged(changed);
      this.announcer.say(gettext("Kept. The next answer follows it."));
    } catch (error) {
      this.on.onError(error.message);
    }
  }

  async #clear(thread) {
    try {
      const { clear } = await loaded(import("./clearing.js"));
      if (!(await clear(thread))) return;
      this.announcer.say(gettext("The conversation is cleared."));
      this.on.onCleared(thread);
    } catch (error) {
      this.on.onError(error.message);
    }
  }

  async #delete(thread) {
    const title = thread.title || gettext("New conversation");
    const text = gettext(
      "“{title}” and all its turns are deleted, with what was recorded of them. This can't be undone.",
      { title },
    );
    if (!(await confirmed({
      title: gettext("Delete this conversation?"),
      text,
      yes: gettext("Delete conversation"),
    }))) return;
    let held;
    try {
      held = (await api.delete(`threads/${thread.id}/`))?.held ?? "";
    } catch (error) {
      this.on.onError(error.message);
      return;
    }
    this.list.remove(thread.id);
    this.announcer.say(gettext("“{title}” is deleted.", { title }));
    this.on.onDeleted(thread);
    if (held) this.on.onError(held);
  }
}

/** What it cost so far; empty where nothing is known. */
async function costNote({ id }) {
  const { cost } = await api.get(`threads/${id}/`).catch(() => ({ cost: null }));
  return cost === null || cost === undefined ? "" : gettext("Cost so far: {cost} USD", { cost });
}
