/**
 * What was said or stands in a file, found by its words: the server is asked once the reader pauses; each place is a
 * link to its turn.
 */

import { api } from "./api.js";
import { byId, h } from "./dom.js";
import { dateFormat, gettext, ngettext } from "./language.js";

const PAUSE = 250;
const PAGE = 20;
const LETTER = String.raw`[\p{L}\p{M}\p{N}_]`;
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
const day = dateFormat({ day: "numeric", month: "long", year: "numeric" }, "en-GB");

/** @returns {[string, boolean][]} a text in parts, each with whether it is one of the words */
export function marked(text, words) {
  const inside = new Array(text.length).fill(false);
  for (const word of words) {
    const [before, after] = UNSPACED.test(word) ? ["", ""] : [`(?<!${LETTER})`, `(?!${LETTER})`];
    // they may overlap
    const places = new RegExp(`(?=${before}${word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")}${after})`, "gu");
    for (const { index } of text.matchAll(places)) inside.fill(true, index, index + word.length);
  }
  const parts = [];
  for (let at = 0, start = 0; at < text.length; at += 1) {
    if (inside[at] === inside[at + 1]) continue;
    parts.push([text.slice(start, at + 1), inside[at]]);
    start = at + 1;
  }
  return parts;
}

/** @typedef {{id: string, name: string, part: number | null}} FoundFile */

export class Finder {
  #text = "";
  #timer = null;
  #asked = 0;
  #hits = [];
  #next = null;
  #titles = new Set();
  #settled = true;

  /**
   * @param {(thread: Thread, position?: number, file?: FoundFile, words?: string[]) => void} onOpen `file`: where it
   *   stands in one; `words`: as they stand in the turn
   */
  constructor(onOpen) {
    this.onOpen = onOpen;
    this.state = byId("found-state");
    this.list = byId("found");
  }

  /** @param {string} text @param {string[]} titles ids of the threads whose titles are listed already */
  look(text, titles) {
    this.#titles = new Set(titles);
    if (text === this.#text) {
      if (text && this.#settled) this.#show();
      return;
    }
    this.#text = text;
    this.again(PAUSE);
  }

  /** Ask anew, at once unless told otherwise. */
  again(pause = 0) {
    clearTimeout(this.#timer);
    this.#asked += 1;
    this.#settled = false;
    if (this.#text)
      this.#timer = setTimeout(
        () => this.#ask(`threads/?q=${encodeURIComponent(this.#text)}&page_size=${PAGE}`),
        pause,
      );
    else this.#clear();
  }

  async #ask(path, before = []) {
    const asked = this.#asked;
    this.list.setAttribute("aria-busy", "true");
    if (!this.list.children.length) this.state.textContent = gettext("Searching what was said…");
    try {
      const { results, next } = await api.get(path);
      if (asked !== this.#asked) return;
      this.#hits = [...before, ...results];
      this.#next = next;
      this.#settled = true;
      this.#show();
    } catch (error) {
      if (asked !== this.#asked) return;
      this.state.textContent = error.message;
      this.list.replaceChildren(this.#button(gettext("Try again"), () => this.#ask(path, before)));
    }
    this.list.removeAttribute("aria-busy");
  }

  #clear() {
    this.state.textContent = "";
    this.list.replaceChildren();
    this.list.removeAttribute("aria-busy");
  }

  #show() {
    const shown = this.#hits.filter((thread) => placesIn(thread).length || !this.#titles.has(thread.id));
    this.state.replaceChildren(...this.#told(shown.length));
    this.list.replaceChildren(...shown.map((thread) => h("li", {}, ...this.#links(thread))));
    if (this.#next) this.list.append(this.#button(gettext("Show more"), (event) => this.#more(event)));
  }

  #told(found) {
    const titles = this.#titles.size;
    if (!found && titles)
      return [
        h("span", { class: "visually-hidden" }, `${ngettext("{count} title", "{count} titles", titles)}. `),
        gettext("Nothing more in what was said."),
      ];
    if (!found)
      return [gettext(
        "Nothing was found. All of the words must stand in one title, one message or one part of a file.",
      )];
    const told = this.#next
      ? ngettext("Found in {count} conversation, and in more", "Found in {count} conversations, and in more", found)
      : ngettext("Found in {count} conversation", "Found in {count} conversations", found);
    return titles
      ? [h("span", { class: "visually-hidden" }, `${ngettext("{count} title", "{count} titles", titles)}. `), told]
      : [told];
  }

  #links(thread) {
    const places = placesIn(thread);
    return places.length
      ? places.map((place, number) => this.#link(thread, place, number === 0))
      : [this.#link(thread, null, true)];
  }

  /** @param {boolean} isTitled a further place of the same thread says only where it stands */
  #link(thread, place, isTitled) {
    const position = place?.position ?? undefined;
    const follow = (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return; // a new tab or window
      event.preventDefault();
      const file = place?.file ? { id: place.file, name: place.name, part: place.part } : undefined;
      this.onOpen(thread, position, file, file ? [] : place?.words);
    };
    return h(
      "a",
      { class: "hit", href: `/threads/${thread.id}/${position ? `#turn-${position}` : ""}`, onclick: follow },
      isTitled && h("span", { class: "title", dir: "auto" }, thread.title || gettext("New conversation")),
      place &&
        h(
          "span",
          { class: "excerpt", dir: "auto" },
          ...marked(place.excerpt, place.words).map(([part, isWord]) => (isWord ? h("mark", {}, part) : part)),
        ),
      place && h("span", { class: "place", dir: "auto" }, place.file ? placeInFile(place) : placeOf(place)),
    );
  }

  async #more(event) {
    const reached = this.list.querySelectorAll("a").length;
    event.currentTarget.disabled = true;
    await this.#ask(this.#next, this.#hits);
    this.list.querySelectorAll("a")[reached]?.focus();
  }

  #button(words, onclick) {
    return h("li", {}, h("button", { type: "button", class: "button quiet wide", onclick }, words));
  }
}

/** @returns {Row[]} where the words stand: in a turn, in a file */
function placesIn({ match, file_match: inFile }) {
  return [match, inFile].filter(Boolean);
}

/** @returns {string} the file and its part, when it came, and the turn that brought it */
export function placeInFile({ name, label, created_at: at, position }) {
  return [name, label, day.format(new Date(at)), position && gettext("turn {position}", { position })].filter(
    Boolean,
  ).join(
    ", ",
  );
}

function placeOf({ role, created_at: at, position }) {
  const who = role === "user" ? gettext("You") : gettext("Reply");
  return [who, day.format(new Date(at)), gettext("turn {position}", { position })].join(", ");
}
