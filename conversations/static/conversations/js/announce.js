/** Tells screen readers what streams in, a sentence at a time, and states in a few words. */

import { h } from "./dom.js";

/** With its end, which is empty where it goes on. */
const SENTENCE = /[^.!?。！？\n]+([.!?]+(?=\s)|[。！？]+|\n+|)/gu;
const KEPT = 12;

/** What stands within a line as code, or a sign of emphasis: beside a word, and not within one. */
const CODE = /(`+)([^`]+)\1|`+/;
const STARS = /(?<![\w*])\*+(?=[^\s*])|(?<=[^\s*])\*+(?![\w*])/;
const LOW_LINES = /(?<!\w)_+(?=\w)|(?<=[^\W_])_+(?!\w)|~~/;
const INLINE = new RegExp([CODE, STARS, LOW_LINES].map(({ source }) => source).join("|"), "g");

/** Markdown's signs say nothing aloud; a block of code is named, not spelled, code within a line is read as it is. */
export function spoken(text) {
  return text
    .replace(/```[\s\S]*?(?:```|$)/g, " Code block. ")
    .replace(/^[ \t]*(?:\|[ \t]*)?:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)*\|?$/gm, "")
    .replace(/^[ \t]*(?:#{1,6}|>+|[-*+])(?=[ \t])/gm, "")
    .replace(/!?\[([^[\]]*)\]\([^)[]*\)/g, "$1")
    .replace(INLINE, (all, ticks, code) => code ?? "")
    .replace(/\s+/g, " ")
    .replace(/ ?(?:\| ?)+/g, " ")
    .trim();
}

export class Announcer {
  #done = 0;

  constructor(region) {
    this.region = region;
  }

  say(words) {
    if (!words) return;
    this.region.append(h("p", {}, words));
    while (this.region.children.length > KEPT) this.region.firstElementChild.remove();
  }

  begin() {
    this.#done = 0;
  }

  /** What was said before and is shown again. */
  skip(text) {
    this.#done = text.length;
  }

  /** @param {string} text everything so far */
  follow(text) {
    if (text.length < this.#done) this.#done = 0;
    if ((text.split("```").length - 1) % 2 === 1) return; // within a code block
    const rest = text.slice(this.#done);
    const sentence = [...rest.matchAll(SENTENCE)].findLast((match) => match[1]);
    if (!sentence) return;
    const length = sentence.index + sentence[0].length;
    this.#done += length;
    this.say(spoken(rest.slice(0, length)));
  }

  finish(text, words) {
    this.say(spoken(text.slice(this.#done)));
    this.#done = text.length;
    this.say(words);
  }
}
