/** The list of threads: by day, searched by title and by what was said, renamed in place, deleted after a question. */

import { api } from "./api.js";
import { byDay } from "./days.js";
import { byId, h, icon, iconButton } from "./dom.js";
import { Finder } from "./finding.js";

const NEWEST = "threads/?page_size=50";

export class ThreadList {
  #threads = [];
  #next = null;
  #current = null;
  #renaming = null;

  /**
   * @param {{
   *   onOpen: (thread: Thread, position?: number, file?: import("./finding.js").FoundFile) => void,
   *   onMenu: (thread: Thread, button: HTMLElement) => void,
   *   onRenamed: (thread: Thread) => void,
   *   onError: (words: string) => void,
   * }} on
   */
  constructor(on) {
    this.on = on;
    this.element = byId("threads");
    this.rows = byId("titles");
    this.finder = new Finder((thread, position, file) => this.on.onOpen(thread, position, file));
    this.search = byId("search");
    this.search.addEventListener("input", () => this.#show());
    this.search.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown") this.element.querySelector("a")?.focus();
    });
    byId("search-form").addEventListener("submit", (event) => {
      event.preventDefault();
      const first = this.element.querySelector("a");
      if (first) first.click();
      else this.finder.again();
    });
    this.element.addEventListener("keydown", (event) => this.#arrows(event));
  }

  async load(path = NEWEST) {
    try {
      const { results, next } = await api.get(path);
      const known = new Set(this.#threads.map(({ id }) => id));
      this.#threads = [...this.#threads, ...results.filter(({ id }) => !known.has(id))];
      this.#next = next;
      this.#show();
    } catch (error) {
      const again = h("button", { type: "button", class: "button", onclick: () => this.load(path) }, "Try again");
      this.rows.replaceChildren(h("div", { class: "list-note" }, h("p", {}, error.message), again));
    }
  }

  /** From the start, where others than the newest have come. */
  reload() {
    this.#threads = [];
    return this.load();
  }

  /** What has come, gone or been renamed in other windows; older ones that were loaded stay. */
  async renew() {
    const before = this.#threads;
    const page = await api.get(NEWEST).catch(() => null); // what is shown stays
    if (!page || before !== this.#threads || this.#renaming) return;
    const { results, next } = page;
    const oldest = results.at(-1)?.updated_at;
    const older = next ? before.filter(({ updated_at: at }) => at < oldest) : [];
    this.#threads = [...results, ...older];
    if (!older.length) this.#next = next;
    this.#show();
  }

  find(id) {
    return this.#threads.find((thread) => thread.id === id);
  }

  /** New, or active again: to the top. */
  touch(thread) {
    const known = this.find(thread.id);
    this.#threads = this.#threads.filter(({ id }) => id !== thread.id);
    this.#threads.unshift({ ...known, ...thread, updated_at: new Date().toISOString() });
    this.#show();
  }

  /** Another title, another setting; where it stands stays. */
  change(thread) {
    const known = this.find(thread.id);
    if (known) Object.assign(known, thread);
    this.#show();
    this.finder.again();
  }

  select(id) {
    this.#current = id;
    this.#show();
  }

  remove(id) {
    this.#threads = this.#threads.filter((thread) => thread.id !== id);
    this.#show();
    this.finder.again();
  }

  rename(id) {
    this.#renaming = id;
    this.#show();
    this.element.querySelector("input")?.select();
  }

  #show() {
    const wanted = this.search.value.trim().toLocaleLowerCase();
    const found = this.#threads.filter(({ title }) => title.toLocaleLowerCase().includes(wanted));
    const focused = document.activeElement?.closest?.("[data-thread]")?.getAttribute("data-thread");
    this.rows.replaceChildren(
      ...byDay(found).map(([day, threads]) =>
        h("section", { class: "day" }, h("h2", {}, day), h("ul", {}, ...threads.map((thread) => this.#row(thread)))),
      ),
      ...this.#foot(found, wanted),
    );
    if (focused) this.element.querySelector(`[data-thread="${focused}"] a`)?.focus();
    this.finder.look(wanted, wanted ? found.map(({ id }) => id) : []);
  }

  #foot(found, wanted) {
    if (wanted) return []; // the server looks through all of them
    const empty = !found.length && !this.#next;
    if (empty) return [h("p", { class: "list-note" }, "Your conversations will be listed here.")];
    return this.#next
      ? [
          h(
            "button",
            { type: "button", class: "button quiet", onclick: () => this.load(this.#next) },
            "Show older conversations",
          ),
        ]
      : [];
  }

  #row(thread) {
    if (thread.id === this.#renaming) return h("li", { "data-thread": thread.id }, this.#input(thread));
    const link = h(
      "a",
      {
        href: `/threads/${thread.id}/`,
        "aria-current": thread.id === this.#current && "page",
        onclick: (event) => this.#follow(event, thread),
        onkeydown: (event) => event.key === "F2" && this.rename(thread.id),
      },
      h("span", { class: "title", dir: "auto" }, thread.title || "New conversation"),
      thread.remembers === false &&
        h(
          "span",
          { class: "unremembered", title: "Not remembered" },
          icon("note-off"),
          h("span", { class: "visually-hidden" }, ", not remembered"),
        ),
    );
    const more = iconButton(
      "more",
      `Rename, remember, clear or delete “${thread.title || "New conversation"}”`,
      () => this.on.onMenu(thread, more),
      { "aria-haspopup": "menu" },
    );
    return h("li", { "data-thread": thread.id }, link, more);
  }

  #follow(event, thread) {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return; // a new tab or window
    event.preventDefault();
    this.on.onOpen(thread);
  }

  #input(thread) {
    const input = h("input", { type: "text", value: thread.title, maxlength: 200, "aria-label": "New title" });
    const leave = () => {
      this.#renaming = null;
      this.#show();
      this.element.querySelector(`[data-thread="${thread.id}"] a`)?.focus();
    };
    const save = async () => {
      if (this.#renaming !== thread.id) return;
      const title = input.value.trim();
      leave();
      if (!title || title === thread.title) return;
      try {
        Object.assign(thread, await api.patch(`threads/${thread.id}/`, { title }));
        this.on.onRenamed(thread);
        this.change(thread);
      } catch (error) {
        this.on.onError(error.message);
      }
    };
    input.addEventListener("blur", save);
    input.addEventListener("keydown", (event) => {
      event.stopPropagation(); // Esc here must not stop a reply
      if (event.key === "Enter") save();
      if (event.key === "Escape") leave();
    });
    return input;
  }

  #arrows(event) {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const links = [...this.element.querySelectorAll("a")];
    const index = links.indexOf(document.activeElement);
    if (index < 0) return;
    event.preventDefault();
    const next = links[index + (event.key === "ArrowDown" ? 1 : -1)];
    (next ?? (event.key === "ArrowUp" ? this.search : links[index])).focus();
  }
}
