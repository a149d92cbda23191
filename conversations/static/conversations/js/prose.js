/** A text that may still grow, shown as Markdown. Only the blocks that changed are rendered again. */

import { dressDiagrams } from "../../artifacts/js/diagrams.js";
import { dressCode, dressTables } from "./code.js";
import { blocksOf, renderBlock } from "./markdown.js";
import { dressMaths } from "./maths.js";

export class Prose {
  #shown = []; // {raw, growing, nodes}
  #text = "";
  #frame = 0;

  constructor(element) {
    this.element = element;
  }

  get text() {
    return this.#text;
  }

  /** While a reply streams: at most one rendering for each painted frame. */
  grow(text, onShown) {
    this.#text = text;
    if (this.#frame) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#render(true);
      onShown();
    });
  }

  finish(text) {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#text = text;
    this.#render(false);
  }

  #render(growing) {
    const { blocks, links } = blocksOf(this.#text);
    const linked = Object.keys(links).length > 0; // a definition changes blocks before it
    const wanted = blocks.map((block, index) => ({ block, growing: growing && index === blocks.length - 1 }));
    let same = 0;
    while (same < this.#shown.length && isShown(this.#shown[same], wanted[same]) && !(linked && !growing)) same += 1;
    this.#shown.splice(same).forEach(({ nodes }) => nodes.forEach((node) => node.remove()));
    for (const { block, growing: last } of wanted.slice(same)) {
      const fragment = renderBlock(block);
      dressMaths(fragment, { growing: last });
      dressCode(fragment, { growing: last });
      dressTables(fragment);
      if (!last) dressDiagrams(fragment);
      this.#shown.push({ raw: block.raw, growing: last, nodes: [...fragment.childNodes] });
      this.element.append(fragment);
    }
  }
}

function isShown(shown, wanted) {
  return wanted !== undefined && shown.raw === wanted.block.raw && shown.growing === wanted.growing;
}
