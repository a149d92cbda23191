/** What a model shows of its thinking: folded under its reply, and no part of its words. */

import { h } from "./dom.js";
import { gettext } from "./language.js";
import { Prose } from "./prose.js";

export class Thought {
  #text = "";
  #body = h("div", { class: "prose", dir: "auto" });
  #prose = new Prose(this.#body);

  constructor() {
    this.element = h(
      "details",
      { class: "thought", hidden: true },
      h("summary", {}, gettext("Its thinking, in short")),
    );
  }

  grow(piece, onShown) {
    if (!piece) return;
    this.#set(this.#text + piece);
    this.#prose.grow(this.#text, onShown);
  }

  /** @param {Row[]} blocks of the stored turn; none where nothing was stored */
  finish(blocks) {
    const shown = blocks.filter(({ type, thinking }) => type === "thinking" && thinking?.trim());
    this.#set(shown.map(({ thinking }) => thinking).join("\n\n"));
    this.#prose.finish(this.#text);
  }

  #set(text) {
    this.#text = text;
    this.element.hidden = !text;
    if (!text) this.#body.remove();
    else if (!this.#body.parentElement) this.element.append(this.#body);
  }
}
