/** The empty state: what to try first, and who shall answer. */

import { h } from "./dom.js";

const EXAMPLES_OF = {
  analyst: [
    {
      text: "Write a one-page brief for an app with which a bakery takes orders. Ask me what you need to know first.",
      hint: "It becomes a document beside the chat, with versions, ready for Word or PDF.",
    },
    {
      text: "Draw how an order goes from the customer to the oven as a Mermaid diagram.",
      hint: "Then ask for a change: the diagram gets a second version, and you can compare both.",
    },
    {
      text: "Compare three ways to take payments in a table: cost, effort and risk.",
      hint: "Talk it over, then choose a preset below: it makes a whole document of the conversation.",
    },
  ],
};
const EXAMPLES = [
  {
    text: "By the way, we're building a FastAPI app for a bakery.",
    hint: "Mention it in passing. Ask much later which framework we are using.",
  },
  {
    text: "Who was Ada Lovelace?",
    hint: "Then ask only “who was her father?”: a short question is read with what came before it.",
  },
  {
    text: "What were you given to write this answer?",
    hint: "Then open the book below the reply and compare.",
  },
];

export class Welcome {
  /**
   * @param {HTMLElement} element
   * @param {{assistants: {slug: string, name: string, description: string}[],
   *   answers: Record<string, {long: string, command: string}>}} page
   * @param {{onExample: (text: string) => void, onAssistant: (slug: string) => void}} handlers
   */
  constructor(element, { assistants, answers }, { onExample, onAssistant }) {
    this.element = element;
    this.assistants = assistants;
    this.answers = answers;
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
      h("h2", {}, "What is on your mind?"),
      h(
        "p",
        { class: "lead" },
        "Every reply is written from a context you can open and read. Look for the book mark below it.",
      ),
      ...(this.assistants.length > 1 ? [this.#chooser()] : []),
      this.note, // below, so that it moves nothing that is being pressed
      h("h3", { class: "visually-hidden" }, "Examples"),
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
    const examples = EXAMPLES_OF[this.assistant] ?? EXAMPLES;
    this.examples.replaceChildren(...examples.map((example) => this.#example(example)));
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

  #example({ text, hint }) {
    const content = [h("span", {}, text), h("span", { class: "example-hint" }, hint)];
    return h("li", {}, h("button", { type: "button", onclick: () => this.onExample(text) }, ...content));
  }

  #chooser() {
    const option = ({ slug, name, description }, index) =>
      h(
        "label",
        { class: "assistant-option" },
        h("input", { type: "radio", name: "assistant", value: slug, checked: index === 0 }),
        h("span", { class: "assistant-name" }, name),
        h("span", { class: "assistant-text" }, description),
      );
    return h(
      "fieldset",
      { class: "assistants", onchange: () => this.#showAssistant() },
      h("legend", {}, "Who answers"),
      ...this.assistants.map(option),
    );
  }
}
