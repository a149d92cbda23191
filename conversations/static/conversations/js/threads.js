/**
 * The list of threads: pinned ones, then by day; searched by title and by what was said, renamed in place, several
 * ticked at once. Archived ones, and those with a tag, are shown by themselves.
 */

import { api } from "./api.js";
import { openMenu } from "./dialogs.js";
import { byId, h } from "./dom.js";
import { Finder } from "./finding.js";
import { gettext } from "./language.js";
import { ALL, ARCHIVED, firstPages, groupsOf, merged, nameOf } from "./thread-groups.js";
import { ProjectGroups } from "./thread-projects.js";
import { linkRow, tickRow, titleField } from "./thread-row.js";

const REACHABLE = "a, input[type=checkbox]";

export class ThreadList {
  /** @type {Thread[]} */
  #threads = [];
  #next = null;
  #current = null;
  #renaming = null;
  #field = null;
  #isDrawing = false; // the field loses the focus while the rows around it are made anew
  /** @type {Map<string, Thread> | null} while several are ticked */
  #ticked = null;
  /** @type {import("./thread-groups.js").View} */
  #view = ALL;
  #changes = 0; // made here so far; what was asked for before one may not know it

  /**
   * @param {{
   *   onOpen: (
   *     thread: Thread, position?: number, file?: import("./finding.js").FoundFile, words?: string[]
   *   ) => void,
   *   onMenu: (thread: Thread, button: HTMLElement) => void,
   *   onRenamed: (thread: Thread) => void,
   *   onTicked: (threads: Thread[] | null) => void,
   *   onError: (words: string) => void,
   * }} on
   */
  constructor(on) {
    this.on = on;
    this.element = byId("threads");
    this.rows = byId("titles");
    this.finder = new Finder((thread, position, file, words) => this.on.onOpen(thread, position, file, words));
    this.groups = new ProjectGroups({
      read: (path) => this.#asOfNow(() => api.get(path)),
      onCome: (threads) => this.#put(threads),
      onChanged: () => this.#show(),
      onError: (words) => this.on.onError(words),
    });
    this.search = byId("search");
    this.search.addEventListener("input", () => this.#show());
    this.search.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown") this.element.querySelector(REACHABLE)?.focus();
    });
    byId("search-form").addEventListener("submit", (event) => {
      event.preventDefault();
      const first = this.element.querySelector("a");
      if (first) first.click();
      else this.finder.again();
    });
    this.element.addEventListener("keydown", (event) => this.#keys(event));
    this.element.addEventListener("dblclick", (event) => this.#renameAt(event));
    byId("list-view").addEventListener("click", (event) => this.#openViews(event.currentTarget));
    byId("select").addEventListener("click", () => (this.#ticked ? this.untick() : this.tick()));
  }

  async load() {
    const view = this.#view;
    try {
      const pages = await this.#firstPages(view);
      if (view === this.#view) this.#take(pages);
    } catch (error) {
      this.#showFailure(error, () => this.load());
    }
  }

  async #firstPages(view) {
    const pages = () => Promise.all(firstPages(view).map((path) => api.get(path)));
    const [read] = await Promise.all([this.#asOfNow(pages), this.groups.load()]);
    return read;
  }

  /** What `ask` answers, asked again where threads were changed meanwhile: the answer may be of before. */
  async #asOfNow(ask) {
    for (;;) {
      const changes = this.#changes;
      const answer = await ask();
      if (changes === this.#changes) return answer;
    }
  }

  async #older() {
    const [view, next] = [this.#view, this.#next];
    try {
      const page = await this.#asOfNow(() => api.get(next));
      if (view === this.#view) this.#take([page]);
    } catch (error) {
      this.on.onError(error.message);
    }
  }

  #take(pages) {
    this.#threads = merged(
      this.#view,
      this.#threads,
      pages.flatMap(({ results }) => results),
    );
    this.#next = pages.at(-1).next;
    this.#show();
  }

  #showFailure(error, again) {
    const button = h("button", { type: "button", class: "button", onclick: again }, gettext("Try again"));
    this.rows.replaceChildren(h("div", { class: "list-note" }, h("p", {}, error.message), button));
  }

  /** From the start, where others than the newest have come. */
  reload() {
    this.#threads = [];
    return this.load();
  }

  /** What has come, gone or been renamed in other windows; older ones that were loaded stay. */
  async renew() {
    const before = this.#threads;
    const pages = await this.#firstPages(this.#view).catch(() => null);
    if (!pages || before !== this.#threads || this.#renaming || this.#ticked) return; // what is shown stays
    const { results, next } = pages.at(-1);
    const oldest = results.at(-1)?.updated_at;
    const older = next ? before.filter(({ pinned, updated_at: at }) => !pinned && at < oldest) : [];
    const inProjects = before.filter(({ project }) => project && !older.some((thread) => thread.project === project));
    this.#threads = merged(
      this.#view,
      [...older, ...inProjects],
      pages.flatMap((page) => page.results),
    );
    if (!older.length) this.#next = next;
    this.#show();
  }

  find(id) {
    return this.#threads.find((thread) => thread.id === id);
  }

  /** New, or active again: to the top. */
  touch(thread) {
    this.#put([{ ...thread, updated_at: new Date().toISOString() }]);
  }

  /** Another title, another setting. @param {Thread[]} threads those that belong elsewhere now go */
  change(...threads) {
    this.#changes += 1;
    this.#put(threads);
    this.finder.again();
  }

  #put(threads) {
    const listed = threads.filter(({ temporary }) => !temporary);
    this.#threads = merged(this.#view, this.#threads, listed);
    this.#show();
  }

  select(id) {
    this.#current = id;
    this.#show();
  }

  remove(...ids) {
    this.#changes += 1;
    this.#threads = this.#threads.filter((thread) => !ids.includes(thread.id));
    this.#show();
    this.finder.again();
  }

  rename(id) {
    const thread = this.find(id);
    if (!thread || this.#renaming === id) return;
    this.#renaming = id;
    this.#field = titleField(thread, (title) => this.#renamed(thread, title));
    this.#show();
    this.#field.select();
  }

  async #renamed(thread, title) {
    if (this.#renaming !== thread.id || this.#isDrawing) return;
    this.#renaming = null;
    this.#field = null;
    this.#show();
    this.#focus(thread.id);
    if (!title || title === thread.title) return;
    try {
      const changed = await api.patch(`threads/${thread.id}/`, { title });
      this.on.onRenamed(changed);
      this.change(changed);
    } catch (error) {
      this.on.onError(error.message);
    }
  }

  /** Rows are ticked, and one thing done with all of them. @param {Thread} [thread] the first */
  tick(thread) {
    this.#ticked = new Map(thread ? [[thread.id, thread]] : []);
    this.#tickedChanged();
    this.element.querySelector(REACHABLE)?.focus();
  }

  untick() {
    this.#ticked = null;
    this.#tickedChanged();
    byId("select").focus();
  }

  /** All that are listed. */
  tickAll() {
    this.#ticked = new Map(this.#listed().map((thread) => [thread.id, thread]));
    this.#tickedChanged();
  }

  #tickedChanged() {
    byId("select").setAttribute("aria-pressed", String(Boolean(this.#ticked)));
    this.#show();
    this.#tellTicked();
  }

  #tellTicked() {
    this.on.onTicked(this.#ticked && [...this.#ticked.values()]);
  }

  #tickOne(thread, ticked) {
    if (ticked) this.#ticked.set(thread.id, thread);
    else this.#ticked.delete(thread.id);
    this.#tellTicked();
  }

  async #openViews(button) {
    const { results } = await api.get("tags/").catch(() => ({ results: [] }));
    const item = (view) => ({
      label: nameOf(view),
      checked: nameOf(view) === nameOf(this.#view) && view.kind === this.#view.kind,
      run: () => this.#setView(view),
    });
    const tags = results.map(({ tag }) => item({ kind: "tag", tag }));
    openMenu(button, [item(ALL), item(ARCHIVED), ...tags], {
      atStart: true,
      oneOf: true,
      label: gettext("Which conversations are listed"),
    });
  }

  #setView(view) {
    this.#view = view;
    this.search.value = "";
    byId("list-view-name").textContent = nameOf(view);
    this.#threads = [];
    this.#next = null;
    this.#show();
    byId("list-view").focus();
    return this.load();
  }

  #listed() {
    const wanted = this.search.value.trim().toLocaleLowerCase();
    return this.#threads.filter(({ title }) => title.toLocaleLowerCase().includes(wanted));
  }

  #show() {
    const wanted = this.search.value.trim().toLocaleLowerCase();
    const listed = this.#listed();
    const row = document.activeElement?.closest?.("[data-thread]");
    const place = this.#reachable.findIndex((each) => row?.contains(each));
    const isTyping = document.activeElement === this.#field;
    this.#isDrawing = true;
    this.rows.replaceChildren(...this.#sections(listed, wanted), ...this.#foot(listed, wanted));
    this.#isDrawing = false;
    if (isTyping) this.#field.focus();
    else if (row && !this.#focus(row.getAttribute("data-thread"))) this.#focusNear(place);
    this.finder.look(wanted, wanted ? listed.map(({ id }) => id) : []);
  }

  #sections(listed, wanted) {
    const areGrouped = this.#view.kind === "all" && !wanted;
    const groups = areGrouped
      ? groupsOf(listed, this.groups.projects, this.groups.areMore)
      : groupsOf(listed, []);
    const row = (thread) => this.#row(thread);
    const section = (name, threads, drop) =>
      h("section", { class: "day", "data-drop": drop }, h("h2", {}, name), h("ul", {}, ...threads.map(row)));
    return [
      groups.pinned.length && section(gettext("Pinned"), groups.pinned, "pinned"),
      this.groups.section(groups.projects, row),
      ...groups.days.map(([name, threads]) => section(name, threads, "outside")),
    ].filter(Boolean);
  }

  /** What moves where this row is dragged: all that are ticked, if it is one of them. */
  idsAt(id) {
    return this.#ticked?.has(id) ? [...this.#ticked.keys()] : [id];
  }

  get #reachable() {
    return /** @type {HTMLElement[]} */ ([...this.element.querySelectorAll(REACHABLE)]);
  }

  /** @returns {boolean} whether it is listed */
  #focus(id) {
    const element = this.#reachable.find((each) => each.closest("[data-thread]")?.getAttribute("data-thread") === id);
    element?.focus();
    return Boolean(element);
  }

  /** Where a row was that is listed no more. */
  #focusNear(place) {
    const rows = this.#reachable;
    (rows[Math.min(place, rows.length - 1)] ?? this.search).focus();
  }

  #foot(listed, wanted) {
    if (wanted) return []; // the server looks through all of them
    if (this.#next)
      return [
        h(
          "button",
          { type: "button", class: "button quiet", onclick: () => this.#older() },
          gettext("Show older conversations"),
        ),
      ];
    return listed.length ? [] : [h("p", { class: "list-note" }, gettext(EMPTY[this.#view.kind]))];
  }

  #row(thread) {
    if (thread.id === this.#renaming) return h("li", { "data-thread": thread.id }, this.#field);
    if (this.#ticked)
      return tickRow(thread, {
        ticked: this.#ticked.has(thread.id),
        onTick: (one, ticked) => this.#tickOne(one, ticked),
      });
    return linkRow(thread, {
      current: thread.id === this.#current,
      onOpen: this.on.onOpen,
      onMenu: this.on.onMenu,
    });
  }

  #renameAt(event) {
    const id = event.target.closest("[data-thread]")?.getAttribute("data-thread");
    if (id && !this.#ticked && event.target.closest("a")) this.rename(id);
  }

  #keys(event) {
    const id = document.activeElement?.closest?.("[data-thread]")?.getAttribute("data-thread");
    if (event.key === "F2" && id && !this.#ticked) this.rename(id);
    if (event.key === "Escape" && this.#ticked && !event.defaultPrevented) {
      event.preventDefault();
      this.untick();
    }
    if (event.key === "ArrowDown" || event.key === "ArrowUp") this.#step(event);
  }

  #step(event) {
    const rows = this.#reachable;
    const index = rows.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    if (index < 0) return;
    event.preventDefault();
    const next = rows[index + (event.key === "ArrowDown" ? 1 : -1)];
    (next ?? (event.key === "ArrowUp" ? this.search : rows[index])).focus();
  }
}

const EMPTY = {
  all: gettext("Your conversations will be listed here."),
  archived: gettext("Nothing is archived. The menu of a conversation puts it here."),
  tag: gettext("No conversation has this tag."),
};
