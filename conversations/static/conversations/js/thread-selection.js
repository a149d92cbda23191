/** What is done with several ticked threads at once: archive, tag, move, delete. */

import { api } from "./api.js";
import { confirmed, openProjects } from "./dialogs.js";
import { byId, h } from "./dom.js";
import { gettext, ngettext } from "./language.js";
import { loaded } from "./on-demand.js";

const MOST = 200; // that one call takes

export class Selection {
  /** @type {Thread[]} */
  #threads = [];

  /**
   * @param {{list: import("./threads.js").ThreadList, announcer: import("./announce.js").Announcer}} page
   * @param {{
   *   onChanged: (thread: Thread) => void,
   *   onDeleted: (thread: Thread) => void,
   *   onError: (words: string) => void,
   * }} on
   */
  constructor({ list, announcer }, on) {
    this.list = list;
    this.announcer = announcer;
    this.on = on;
    this.bar = byId("selection");
    this.state = byId("selection-state");
    this.actions = byId("selection-actions");
  }

  /** @param {Thread[] | null} threads null: nothing is ticked any more */
  show(threads) {
    this.bar.hidden = !threads;
    this.#threads = threads ?? [];
    if (!threads) return;
    const some = threads.length > 0;
    const isArchived = some && threads.every(({ archived }) => archived);
    this.state.textContent = ngettext(
      "{count} conversation selected",
      "{count} conversations selected",
      threads.length,
    );
    const actions = [
      this.#button(gettext("Select all"), () => this.list.tickAll()),
      this.#button(
        isArchived ? gettext("Unarchive") : gettext("Archive"),
        () => this.#change({ archived: !isArchived }),
        !some,
      ),
      this.#button(gettext("Tags…"), () => this.#tag(), !some),
      this.list.groups.projects.length > 0 &&
        this.#button(gettext("Move…"), (event) => this.#move(event.currentTarget), !some),
      this.#button(gettext("Delete…"), () => this.#delete(), !some),
      this.#button(gettext("Done"), () => this.list.untick()),
    ];
    this.actions.replaceChildren(...actions.filter((each) => each instanceof Node));
  }

  #button(words, onclick, disabled = false) {
    return h("button", { type: "button", class: "button quiet", onclick, disabled }, words);
  }

  async #move(button) {
    try {
      openProjects(button, await this.list.groups.all(), (project) => this.#change({ project }));
    } catch (error) {
      this.on.onError(error.message);
    }
  }

  /** Dropped somewhere, ticked or not. @param {string[]} ids */
  drop(ids, changes) {
    return this.#change(changes, ids);
  }

  async #change(changes, ids = this.#threads.map(({ id }) => id)) {
    try {
      for (let start = 0; start < ids.length; start += MOST) {
        const { results } = await api.patch("threads/", { ids: ids.slice(start, start + MOST), ...changes });
        this.#changed(results);
      }
      this.announcer.say(gettext("Done."));
      if (this.#threads.length) this.list.untick();
    } catch (error) {
      this.on.onError(error.message);
    }
  }

  #changed(threads) {
    this.list.change(...threads);
    threads.forEach(this.on.onChanged);
  }

  async #tag() {
    try {
      const { editTags } = await loaded(import("./thread-tags.js"));
      const changed = await editTags(this.#threads.slice(0, MOST));
      if (!changed) return;
      this.#changed(changed);
      this.announcer.say(gettext("The tags are changed."));
      this.list.untick();
    } catch (error) {
      this.on.onError(error.message);
    }
  }

  async #delete() {
    const threads = this.#threads;
    const text = ngettext(
      "{count} conversation and all its turns are deleted, with what was recorded about its requests. This can't be " +
        "undone.",
      "{count} conversations and all their turns are deleted, with what was recorded about their requests. This " +
        "can't be undone.",
      threads.length,
    );
    const title = gettext("Delete these conversations?");
    if (!(await confirmed({ title, text, yes: gettext("Delete conversations") }))) return;
    const failed = [];
    let problem = "";
    let held = "";
    for (const [index, thread] of threads.entries()) {
      this.state.textContent = gettext("Deleting {index} of {most}…", {
        index: index + 1,
        most: threads.length,
      });
      try {
        held = (await api.delete(`threads/${thread.id}/`))?.held ?? held;
        this.list.remove(thread.id);
        this.on.onDeleted(thread);
      } catch (error) {
        failed.push(thread);
        problem = error.message;
      }
    }
    const done = threads.length - failed.length;
    this.announcer.say(ngettext("{count} conversation deleted.", "{count} conversations deleted.", done));
    if (failed.length) this.on.onError(`${failedText(failed.length)} ${problem}`);
    if (held) this.on.onError(held);
    this.list.untick();
  }
}

function failedText(count) {
  return ngettext("{count} conversation could not be deleted.", "{count} conversations could not be deleted.", count);
}
