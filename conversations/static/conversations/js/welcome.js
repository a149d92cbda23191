/** The empty state: what to try first, and who shall answer. */

import { h } from "./dom.js";
import { gettext } from "./language.js";

/** @typedef {{text: string, hint: string, assistant?: string}} Example */

export class Welcome {
  /**
   * @param {HTMLElement} element
   * @param {{assistants: {slug: string, name: string, description: string}[],
   *   answers: Record<string, {long: string, command: string}>,
   *   examples: Record<string, Example[]>}} page
   * @param {{onExample: (text: string) => void, onAssistant: (slug: string) => void}} handlers
   */
  constructor(element, { assistants, answers, examples }, { onExample, onAssistant }) {
    this.element = element;
    this.assistants = assistants;
    this.answers = answers;
    this.examplesOf = examples;
    this.onExample = onExample;
    this.onAssistant = onAssistant;
    this.note = h("p", { class: "answers" });
    this.examples = h("ul", { class: "examples" });
  }

  get assistant() {
    const chosen = /** @type {HTMLInputElement | null} */ (this.element.querySelector("input:checked"));
    return chosen?.value ?? this.assistants[0]?.slug;
  }

  hide() {
    this.element.hidden = true;
  }

  show() {
    this.element.replaceChildren(
      h("h2", {}, gettext("What is on your mind?")),
      h(
        "p",
        { class: "lead" },
        gettext("Every reply is written from a context you can open and read. Look for the book mark below it."),
      ),
      ...(this.assistants.length > 1 ? [this.#chooser()] : []),
      this.note, // below, so that it moves nothing that is being pressed
      h("h3", { class: "visually-hidden" }, gettext("Examples")),
      this.examples,
    );
    this.#showAssistant();
    this.element.hidden = false;
  }

  #showAssistant() {
    this.#showNote();
    this.#showExamples();
    this.onAssistant(this.assistant);
  }

  /** Those that show what this assistant is for. */
  #showExamples() {
    const examples = this.examplesOf[this.assistant] ?? this.examplesOf[""];
    const slugs = this.assistants.map(({ slug }) => slug);
    const offered = examples.filter(({ assistant }) => !assistant || slugs.includes(assistant));
    this.examples.replaceChildren(...offered.map((example) => this.#example(example)));
  }

  /** Who answers, where that is no model or a very small one, and the command that brings one. */
  #showNote() {
    const { long, command } = this.answers[this.assistant] ?? {};
    this.note.hidden = !long;
    this.note.replaceChildren(
      ...(long ? [long] : []),
      ...(command ? [h("code", { class: "answers-command" }, command)] : []),
    );
  }

  /** @param {Example} example */
  #example({ text, hint, assistant }) {
    const content = [h("span", {}, text), h("span", { class: "example-hint" }, hint)];
    const choose = () => {
      if (assistant) this.#choose(assistant);
      this.onExample(text);
    };
    return h("li", {}, h("button", { type: "button", onclick: choose }, ...content));
  }

  #choose(assistant) {
    for (const input of this.element.querySelectorAll("input")) input.checked = input.value === assistant;
    this.#showAssistant();
  }

  #chooser() {
    const option = ({ slug, name, description }, index) =>
      h(
        "label",
        { class: "assistant-option" },
        h("input", { type: "radio", name: "assistant", value: slug, checked: index === 0 }),
        h("span", { class: "assistant-name" }, h("bdi", {}, name)),
        h("span", { class: "assistant-text" }, h("bdi", {}, description)),
      );
    return h(
      "fieldset",
      { class: "assistants", onchange: () => this.#showAssistant() },
      h("legend", {}, gettext("Who answers")),
      ...this.assistants.map(option),
    );
  }
}
