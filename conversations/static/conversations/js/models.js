/** The models that people may choose: what they are called, what they can't, and the button that picks a thread's. */

import { api } from "./api.js";
import { openMenu } from "./dialogs.js";
import { byId } from "./dom.js";
import { gettext } from "./language.js";
import { short } from "./words.js";

const SMALL_WINDOW = 32_000;

/** @typedef {{id: string, name: string, provider: string, context_window: number, images: boolean, tools: boolean,
 *   memory: boolean, assistants: string[], default_of: string[], cut_for?: string[]}} Choice
 *   as `GET models/` lists them */

export class Models {
  /** @param {{models: Record<string, string>, choices: Choice[]}} page labels by name, and what is offered */
  constructor({ models, choices }) {
    this.labels = models;
    this.choices = choices;
  }

  /** Staff may have changed what is offered. */
  async reread() {
    this.choices = (await api.get("models/")).results;
  }

  /** @returns {Choice[]} for an assistant, its own first */
  of(assistant) {
    const offered = this.choices.filter(({ assistants }) => assistants.includes(assistant));
    return [...offered].sort((a, b) => Number(isOwn(b, assistant)) - Number(isOwn(a, assistant)));
  }

  /**
   * The one that answers in a thread: what was chosen for it, else the assistant's own.
   * @param {{assistant?: string | null, model?: string}} thread
   */
  answering({ assistant, model }) {
    const offered = this.of(assistant);
    return offered.find(({ id }) => id === model) ?? offered.find((choice) => isOwn(choice, assistant));
  }

  /** What people call a model. Where two are called the same, with who is asked. */
  name(model, provider = "") {
    const label = this.labels[model] ?? model;
    const same = this.choices.filter(({ name }) => name === label);
    return provider && same.length > 1 ? `${label} (${provider})` : label;
  }

  /** That the model of a thread takes in less than its assistant may give it; empty where it does not. */
  windowNote(thread) {
    const choice = this.answering(thread);
    if (!choice?.cut_for?.includes(thread.assistant)) return "";
    return gettext(
      "{choice} has a small window: it is given less of a long conversation than usual here.",
      { choice: this.nameOf(choice) },
    );
  }

  nameOf({ name, provider }) {
    return this.name(name, provider);
  }
}

export function isOwn(choice, assistant) {
  return choice.default_of.includes(assistant);
}

/** What a model can't, in few words. @param {Choice} choice */
export function limitsOf({ tools, memory, context_window: window }) {
  return [
    !tools && gettext("makes no documents"),
    !memory && gettext("sees this conversation alone"),
    window < SMALL_WINDOW && gettext("reads {window} tokens at most", { window: short(window) }),
  ].filter(Boolean);
}

/** A line below a model's name in a menu. @returns {string} */
export function hintOf(choice, ...first) {
  const words = [...first, ...limitsOf(choice)].filter(Boolean).join(", ");
  return words && words[0].toUpperCase() + words.slice(1);
}

export class ModelPicker {
  /** @param {Models} models @param {(id: string) => void} onPick with the id, empty for the assistant's own */
  constructor(models, onPick) {
    this.models = models;
    this.onPick = onPick;
    this.button = byId("model");
    this.button.addEventListener("click", () => this.#open());
  }

  /** Shown only where there is something to choose. @param {{assistant?: string | null, model?: string}} thread */
  show(thread) {
    this.thread = thread;
    const answering = this.models.answering(thread);
    this.button.hidden = !answering || this.models.of(thread.assistant).length < 2;
    if (!this.button.hidden) byId("model-name").textContent = this.models.nameOf(answering);
  }

  #open() {
    const { assistant } = this.thread;
    const answering = this.models.answering(this.thread);
    openMenu(
      this.button,
      this.models.of(assistant).map((choice) => ({
        label: this.models.nameOf(choice),
        hint: hintOf(choice, isOwn(choice, assistant) && gettext("usual here")),
        checked: choice === answering,
        run: () => this.onPick(isOwn(choice, assistant) ? "" : choice.id),
      })),
      { label: gettext("Which model answers in this conversation"), oneOf: true, atStart: true },
    );
  }
}

/**
 * Which model answers the same message again.
 * @param {HTMLElement} button @param {Models} models @param {Reply & {assistant: string}} reply
 * @param {(model: string) => void} onChosen
 */
export function openAgainMenu(button, models, { assistant, model, provider }, onChosen) {
  const wrote = ({ id, provider: asked }) => asked === provider && [model, `${provider}/${model}`].includes(id);
  openMenu(
    button,
    models.of(assistant).map((choice) => ({
      label: models.nameOf(choice),
      hint: hintOf(choice, wrote(choice) && gettext("wrote this answer")),
      run: () => onChosen(choice.id),
    })),
    { label: gettext("Answer again with"), note: gettext("Answer again with"), atStart: true },
  );
}
