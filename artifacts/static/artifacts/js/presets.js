/** The presets of the thread's assistant: a menu by the composer. What it can't do now, it says why. */

import { api } from "../../conversations/js/api.js";
import { openMenu } from "../../conversations/js/dialogs.js";
import { byId } from "../../conversations/js/dom.js";
import { gettext } from "../../conversations/js/language.js";

const RUNNING = gettext("A reply is being written. Wait for its end, or stop it.");
const NOTHING = gettext("Say something first: a preset works from the conversation.");

export class Presets {
  #offered = [];
  #threadId = null;

  /**
   * @param {{onRun: (preset: {slug: string, name: string}) => void, reason: () => {running: boolean, empty: boolean}}}
   *   on
   */
  constructor(on) {
    this.on = on;
    this.button = byId("presets");
    this.button.addEventListener("click", () => this.#open());
  }

  /** One that is no longer offered goes by its slug. */
  find(slug) {
    return (
      this.#offered.find((preset) => preset.slug === slug) ?? {
        slug,
        name: slug.replaceAll("-", " "),
        kind: "document",
      }
    );
  }

  /** @param {string | null} threadId */
  async open(threadId) {
    this.#threadId = threadId;
    this.#offered = [];
    this.button.hidden = true;
    if (!threadId) return;
    const { results } = await api.get(`threads/${threadId}/presets/`);
    if (threadId !== this.#threadId) return;
    this.#offered = results;
    this.button.hidden = this.#offered.length === 0;
  }

  #open() {
    const { running, empty } = this.on.reason();
    const note = running ? RUNNING : empty ? NOTHING : "";
    openMenu(
      this.button,
      this.#offered.map((preset) => ({
        label: preset.name,
        hint: preset.description,
        disabled: Boolean(note),
        run: () => this.on.onRun(preset),
      })),
      { note, atStart: true },
    );
  }
}
