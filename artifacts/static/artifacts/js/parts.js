/** What a reply consists of, in order: texts, and marks of what the model did in between. */

import { h, icon } from "../../conversations/js/dom.js";
import { Prose } from "../../conversations/js/prose.js";
import { became, doing } from "./naming.js";
import { permission, waitingCall } from "./permission.js";

export class Parts {
  #texts = []; // {element, prose, text}
  #marks = new Map(); // tool id → Mark
  #afterMark = true;

  /**
   * @param {HTMLElement} element
   * @param {{
   *   onShown: () => void,
   *   onArtifact: (artifact: Row, mark: HTMLElement) => void,
   *   onDraft: (toolId: string) => void,
   *   onAllowed?: (words: string) => void,
   * }} on
   */
  constructor(element, on) {
    this.element = element;
    this.on = on;
  }

  get empty() {
    return this.element.childElementCount === 0;
  }

  /** A piece of text arrives; `whole` stands for everything so far. */
  grow(piece, { whole = false } = {}) {
    if (whole) this.#clear();
    if (this.#afterMark) this.element.append(this.#newText().element);
    this.#afterMark = false;
    const last = this.#texts.at(-1);
    last.text += piece;
    last.prose.grow(last.text, this.on.onShown);
  }

  toolStarted({ id, name, text }) {
    const mark = new Mark({ id, name, text }, this.on);
    this.#marks.set(id, mark);
    this.#afterMark = true;
    this.element.append(mark.element);
  }

  toolGrew(data) {
    this.#marks.get(data.id)?.grew(data);
  }

  toolFinished(data) {
    this.#marks.get(data.id)?.finished(data);
  }

  /** The stored turn. @param {Row[]} blocks of its content; none where nothing was stored */
  finish(blocks) {
    const results = new Map(
      blocks.filter(({ type }) => type === "tool_result").map((block) => [block.tool_use_id, block]),
    );
    const told = blocks.filter(({ type, text }) => type === "tool_use" || (type === "text" && text.trim()));
    let written = 0;
    const shown = told.map((block) => {
      if (block.type === "tool_use") return this.#storedMark(block, results.get(block.id)).element;
      const known = this.#texts[written] ?? this.#newText();
      written += 1;
      known.prose.finish(block.text);
      return known.element;
    });
    this.#texts.splice(written).forEach(({ prose }) => prose.finish(""));
    this.element.replaceChildren(...shown);
  }

  #storedMark(use, result) {
    const mark = this.#marks.get(use.id) ?? new Mark(use, this.on);
    if (!mark.ended) mark.ends(became(use, result));
    if (result?.is_error && this.on.onAllowed) void mark.asks(use);
    return mark;
  }

  #newText() {
    const element = h("div", { class: "prose", dir: "auto" });
    const text = { element, prose: new Prose(element), text: "" };
    this.#texts.push(text);
    return text;
  }

  #clear() {
    this.#texts.splice(0).forEach(({ prose }) => prose.finish(""));
    this.#marks.clear();
    this.#afterMark = true;
    this.element.replaceChildren();
  }
}

/** One call of a tool: a short note, or the button that opens what it made. */
class Mark {
  ended = false;
  #title = "";

  constructor({ id, name, text }, on) {
    this.id = id;
    this.name = name;
    this.text = text;
    this.on = on;
    this.element = h("div", { class: "mark" });
    this.#busy();
  }

  grew({ title }) {
    if (!title || title === this.#title) return;
    this.#title = title;
    this.#busy();
  }

  finished({ text, is_error: failed, artifact }) {
    this.ends({ words: text, failed, artifact });
  }

  ends({ words, failed = false, artifact = null }) {
    this.ended = true;
    if (artifact) {
      const open = h(
        "button",
        { type: "button", class: "mark-button", onclick: () => this.on.onArtifact(artifact, open) },
        icon(artifact.kind ? `kind-${artifact.kind}` : "kind-document"),
        words,
      );
      this.element.dataset.artifact = artifact.id ?? "";
      this.element.replaceChildren(open);
    } else {
      this.element.classList.toggle("failed", failed);
      this.element.replaceChildren(h("span", { class: "mark-note" }, icon(failed ? "warn" : "check"), words));
    }
  }

  /** The person is asked whether the call may be made, if it waits for that. */
  async asks(use) {
    const call = await waitingCall(use);
    if (!call) return;
    this.element.replaceChildren(permission(call, use, this.on.onAllowed));
    this.on.onShown();
  }

  #busy() {
    const words = doing(this.name, this.#title, this.text);
    const content = [h("span", { class: "dots", "aria-hidden": "true" }, h("i"), h("i"), h("i")), words];
    this.element.replaceChildren(
      this.#title
        ? h(
            "button",
            { type: "button", class: "mark-button busy", onclick: () => this.on.onDraft(this.id) },
            ...content,
          )
        : h("span", { class: "mark-note" }, ...content),
    );
  }
}
