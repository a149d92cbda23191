/** A stroke at the beginning of a message opens the prompts above it; the words after it choose among them. */

import { api } from "./api.js";
import { byId, h } from "./dom.js";
import { gettext, ngettext } from "./language.js";
import { filledIn, matching, soughtIn } from "./prompts.js";

const PAGE = "/prompts/";
const MOST_SHOWN = 50;
const FRESH_MS = 30_000; // after which they are asked for again

export class PromptPicker {
  #prompts = null;
  #asked = 0;
  #shown = [];
  #active = 0;
  #closedAt = null; // what stood in the box when it was closed
  #looks = 0; // only the newest is shown

  /**
   * @param {{announcer: import("./announce.js").Announcer}} page
   * @param {{onChosen: (text: string) => void}} on the text takes the place of the message
   */
  constructor({ announcer }, { onChosen }) {
    this.announcer = announcer;
    this.onChosen = onChosen;
    this.text = byId("text");
    this.list = byId("prompt-picker");
    this.text.addEventListener("input", () => this.#look());
    this.text.addEventListener("blur", () => this.#close());
    // Before the composer, which would send.
    this.text.addEventListener("keydown", (event) => this.#key(event), { capture: true });
    this.list.addEventListener("pointerdown", (event) => event.preventDefault()); // the box keeps the focus
  }

  get isOpen() {
    return !this.list.hidden;
  }

  async #look() {
    const sought = soughtIn(this.text.value);
    if (sought === null) {
      this.#closedAt = null;
      this.#close();
      return;
    }
    if (this.#closedAt !== null) return;
    const look = (this.#looks += 1);
    await this.#load();
    if (look !== this.#looks) return; // more was typed, or it was closed
    this.#shown = matching(this.#prompts, sought).slice(0, MOST_SHOWN);
    this.#active = 0;
    this.#show(sought);
  }

  async #load() {
    if (this.#prompts && Date.now() - this.#asked < FRESH_MS) return;
    this.#asked = Date.now();
    const { results } = await api.get("prompts/").catch(() => ({ results: this.#prompts ?? [] }));
    this.#prompts = results;
  }

  #show(sought) {
    if (sought && !this.#shown.length) {
      this.#close();
      return;
    }
    const options = this.#shown.map((prompt, index) => this.#option(prompt, index));
    this.list.replaceChildren(...options, this.#link(options.length));
    if (this.list.hidden) {
      const count = this.#shown.length;
      this.announcer.say(
        ngettext("{count} prompt. Choose with the arrow keys.", "{count} prompts. Choose with the arrow keys.", count),
      );
    }
    this.list.hidden = false;
    this.text.setAttribute("aria-controls", this.list.id);
    this.#mark();
  }

  #option(prompt, index) {
    return h(
      "div",
      { role: "option", id: `prompt-${index}`, class: "prompt-option", onclick: () => this.#choose(index) },
      h("span", { class: "prompt-name", dir: "auto" }, prompt.name),
      h("span", { class: "prompt-begins", dir: "auto" }, prompt.text.slice(0, 120)),
    );
  }

  #link(index) {
    const words = this.#shown.length ? gettext("Your prompts…") : gettext("Make your first prompt…");
    return h(
      "div",
      { role: "option", id: `prompt-${index}`, class: "prompt-option", onclick: () => this.#choose(index) },
      words,
    );
  }

  #mark() {
    for (const [index, option] of [...this.list.children].entries()) {
      option.setAttribute("aria-selected", String(index === this.#active));
      if (index === this.#active) option.scrollIntoView({ block: "nearest" });
    }
    this.text.setAttribute("aria-activedescendant", `prompt-${this.#active}`);
  }

  #close() {
    this.#looks += 1;
    if (!this.isOpen) return;
    this.list.hidden = true;
    this.text.removeAttribute("aria-activedescendant");
    this.text.removeAttribute("aria-controls");
  }

  #key(event) {
    if (!this.isOpen || event.isComposing) return;
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    const count = this.list.children.length;
    if (event.key in steps) {
      this.#active = (this.#active + steps[event.key] + count) % count;
      this.#mark();
    } else if (event.key === "Escape") {
      this.#closedAt = this.text.value;
      this.#close();
    } else if (event.key === "Tab" || (event.key === "Enter" && !event.shiftKey)) this.#choose(this.#active);
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  async #choose(index) {
    const prompt = this.#shown[index];
    this.#close();
    if (!prompt) {
      location.assign(PAGE);
      return;
    }
    const values = prompt.variables.length ? await askFor(prompt.name, prompt.variables) : {};
    if (values) this.onChosen(filledIn(prompt.text, values));
    this.text.focus();
  }
}

/**
 * @param {string} name what is filled in
 * @param {string[]} variables
 * @returns {Promise<Record<string, string> | null>} what was written for each; null: it was left
 */
export function askFor(name, variables) {
  const dialog = byId("prompt-dialog");
  const fields = variables.map((variable) => ({ variable, input: h("textarea", { rows: 1, dir: "auto" }) }));
  byId("prompt-title").textContent = name;
  byId("prompt-fields").replaceChildren(
    ...fields.map(({ variable, input }) => h("label", {}, h("span", { dir: "auto" }, variable), input)),
  );
  dialog.returnValue = "";
  dialog.showModal();
  fields[0].input.focus();
  return new Promise((resolve) => {
    byId("prompt-fields").onkeydown = (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      dialog.close("insert");
    };
    const written = () => Object.fromEntries(fields.map(({ variable, input }) => [variable, input.value]));
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "insert" ? written() : null), { once: true });
  });
}
