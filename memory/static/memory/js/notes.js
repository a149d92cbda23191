/** The list of notes: searched while one types, added to, loaded on, and opened at a note that a link names. */

import { api } from "../../conversations/js/api.js";
import { byId } from "../../conversations/js/dom.js";
import { forget } from "../../conversations/js/forgetting.js";
import { gettext, ngettext } from "../../conversations/js/language.js";
import { edit, noteOf, textOf } from "./note.js";

const PAGE = 50;
const TYPING = 200; // milliseconds
const NAMED = /^#memory-([0-9a-f-]{36}(?:,[0-9a-f-]{36})*)$/;

export class Notes {
  #asked = 0;
  #next = null;
  #timer = 0;

  /** @param {{day: (iso: string) => string, say: (words: string) => void}} options */
  constructor({ day, say }) {
    this.day = day;
    this.say = say;
    this.list = byId("note-list");
    this.words = byId("words");
    /** Only for people who have projects. @type {HTMLSelectElement | null} */
    this.project = document.querySelector("#of-project");
    this.more = byId("more-notes");
    this.words.addEventListener("input", () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.search(), TYPING);
    });
    this.project?.addEventListener("change", () => this.search());
    byId("note-search").addEventListener("submit", (event) => {
      event.preventDefault();
      this.search();
    });
    byId("note-add").addEventListener("submit", (event) => this.#add(event));
    byId("new-note").addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey) return;
      event.preventDefault();
      byId("note-add").requestSubmit();
    });
    this.more.addEventListener("click", () => this.#continue());
    byId("notes").addEventListener("click", (event) => this.#act(event.target.closest("[data-act]")));
    byId("forget-all").addEventListener("click", () => this.#forgetAll());
    addEventListener("hashchange", () => this.openNamed());
  }

  /** The notes with these words, as far as nothing else was asked for meanwhile. */
  async search() {
    clearTimeout(this.#timer);
    const words = this.words.value.trim();
    const number = (this.#asked += 1);
    history.replaceState(null, "", this.#isFiltered ? `?${this.#filter}` : location.pathname);
    byId("ended-notes").hidden = this.#isFiltered || !byId("ended-notes").querySelector("li");
    const page = await this.#read(`memories/?page_size=${PAGE}&${this.#query}`);
    if (!page || number !== this.#asked) return;
    this.#next = page.next;
    this.list.replaceChildren(...page.results.map((memory) => noteOf(memory, this.day)));
    this.#counted();
    this.say(this.#found(words, page));
  }

  /** The notes that the address names, in view and marked; those that are not listed yet are brought in. */
  async openNamed() {
    const ids = NAMED.exec(location.hash)?.[1].split(",") ?? [];
    for (const marked of this.list.querySelectorAll(".marked")) marked.classList.remove("marked");
    for (const id of ids.toReversed()) {
      if (!byMemory(id)) await this.#bring(id);
      byMemory(id)?.classList.add("marked");
    }
    const first = ids.map(byMemory).find(Boolean);
    for (let fold = first?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    first?.scrollIntoView({ block: "center" });
    first?.focus({ preventScroll: true });
  }

  async #bring(id) {
    const memory = await this.#read(`memories/${id}/`);
    if (memory) this.list.prepend(noteOf(memory, this.day));
  }

  /** The first further page repeats what the server has rendered already. */
  async #continue() {
    const number = this.#asked;
    const page = await this.#read(this.#next ?? `memories/?page_size=${2 * PAGE}&${this.#query}`);
    if (!page || number !== this.#asked) return;
    this.#next = page.next;
    const added = page.results.filter(({ id }) => !byMemory(id)).map((memory) => noteOf(memory, this.day));
    this.list.append(...added);
    this.more.hidden = !page.next;
    added[0]?.focus();
    this.say(ngettext("{count} more note.", "{count} more notes.", added.length));
  }

  async #add(event) {
    event.preventDefault();
    const field = byId("new-note");
    const content = field.value.trim();
    if (!content) return field.focus();
    byId("add-note").disabled = true;
    try {
      const memory = await api.post("memories/", { content });
      field.value = "";
      if (this.#isFiltered) {
        this.words.value = "";
        if (this.project) this.project.value = "";
        await this.search();
      }
      if (!byMemory(memory.id)) this.list.prepend(noteOf(memory, this.day));
      fail("add-error", null);
      this.#counted();
      this.say(gettext("Noted."));
    } catch (failure) {
      fail("add-error", failure);
    }
    byId("add-note").disabled = false;
    return field.focus();
  }

  #act(button) {
    const element = button?.closest("[data-memory]");
    if (!element) return;
    const { act } = button.dataset;
    if (act === "edit") edit(element, { day: this.day, onSaved: () => this.say(gettext("Changed.")) });
    else if (act === "restore") this.#restore(element);
    else this.#forget(element);
  }

  /** What had ended the note ends with it, so the page is read anew, and leads to the note. */
  async #restore(element) {
    const id = element.dataset.memory;
    try {
      await api.post(`memories/${id}/restore/`, {});
      location.hash = `#memory-${id}`;
      location.reload();
    } catch (failure) {
      fail("list-error", failure);
    }
  }

  async #forget(element) {
    const done = await forget({
      path: `memories/${element.dataset.memory}/`,
      title: gettext("Forget this note?"),
      quote: textOf(element),
      lead: gettext("The note goes, and with it whatever else tells of it:"),
    });
    if (!done) return element.querySelector("[data-act=forget]").focus();
    const neighbour = element.nextElementSibling ?? element.previousElementSibling;
    for (const id of done.memories) byMemory(id)?.remove();
    element.remove();
    this.#counted();
    this.say(gettext("Forgotten."));
    return (neighbour?.isConnected ? neighbour : byId("new-note")).focus();
  }

  async #forgetAll() {
    const done = await forget({
      path: "memories/",
      body: { all: true },
      title: gettext("Forget everything?"),
      lead: gettext(
        "All notes, open topics and summaries go, and the turns that the notes came from. The rest stays.",
      ),
      typed: gettext("forget everything"),
    });
    if (done)
      location.assign(location.pathname); // topics and days go too
    else byId("forget-all").focus();
  }

  get #isFiltered() {
    return Boolean(this.words.value.trim() || this.project?.value);
  }

  /** What is asked for, as the query of an address. */
  get #filter() {
    const asked = { q: this.words.value.trim(), project: this.project?.value ?? "" };
    return String(new URLSearchParams(Object.entries(asked).filter(([, value]) => value)));
  }

  /** Where words are searched, also what ended. */
  get #query() {
    return this.words.value.trim() ? `${this.#filter}&ended=true` : this.#filter;
  }

  #found(words, { results, next }) {
    if (!words && this.project?.value) return gettext("The notes of this project are listed.");
    if (!words) return gettext("All notes are listed.");
    if (next) return gettext("{count} or more notes hold these words.", { count: results.length });
    return ngettext("{count} note holds these words.", "{count} notes hold these words.", results.length);
  }

  #counted() {
    const none = !this.list.childElementCount;
    const words = this.words.value.trim();
    byId("no-notes").hidden = !none || this.#isFiltered;
    byId("no-project-notes").hidden = !none || Boolean(words) || !this.#isFiltered;
    byId("no-match").hidden = !none || !words;
    this.more.hidden = !this.#next && this.list.childElementCount < PAGE;
  }

  async #read(path) {
    try {
      const answer = await api.get(path);
      fail("list-error", null);
      return answer;
    } catch (failure) {
      fail("list-error", failure);
      return null;
    }
  }
}

function byMemory(id) {
  return document.getElementById(`memory-${id}`);
}

/** Says beside what failed why it did. */
export function fail(id, failure) {
  const element = byId(id);
  element.textContent = failure?.message ?? "";
  element.hidden = !failure;
}
