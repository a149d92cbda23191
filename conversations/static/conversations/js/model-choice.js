/** Which model answers in the open conversation: shown, chosen, and a choice that is offered no longer. */

import { api } from "./api.js";
import { byId } from "./dom.js";
import { gettext } from "./language.js";
import { ModelPicker } from "./models.js";

const NEW_MODEL = "model:new";
const NOT_OFFERED = gettext(
  "This model is not offered any more, and nothing was sent. Choose another one, and send again.",
);

export class ModelChoice {
  /**
   * @param {{models: import("./models.js").Models, store: Store, composer: import("./composer.js").Composer}} page
   * @param {Record<string, {short: string}>} answers what is said of an assistant's own model, by its slug
   * @param {{
   *   reader: () => import("./thread.js").OpenThread,
   *   assistant: () => string,
   *   onChanged: (thread: Thread) => void,
   *   onPicked: () => void,
   * }} on ``assistant``: of a conversation to come
   */
  constructor({ models, store, composer }, answers, on) {
    this.models = models;
    this.store = store;
    this.composer = composer;
    this.answers = answers;
    this.on = on;
    this.picker = new ModelPicker(models, (model) => this.#pick(model));
  }

  /**
   * The one that answers, and below the message box that the chosen one does not or has a small window, or that none
   * does, or one that is not to be relied upon.
   * @param {Thread} thread
   */
  show({ id, assistant, model, model_note: gone }) {
    const chosen = { assistant, model: id === "new" ? this.ofNew(assistant) : model };
    this.picker.show(chosen);
    const said = chosen.model ? this.models.windowNote(chosen) : this.answers[assistant]?.short;
    const note = gone || said;
    const answering = this.models.answering(chosen);
    this.composer.setBlind(answering && !answering.images ? this.models.nameOf(answering) : "");
    byId("answers").textContent = note || "";
    byId("answers").hidden = !note;
  }

  /** The one that was chosen for a conversation to come, as long as its assistant offers that. */
  ofNew(assistant) {
    const chosen = this.store.read(NEW_MODEL, "");
    return this.models.of(assistant).some(({ id }) => id === chosen) ? chosen : "";
  }

  forgetNew() {
    this.store.write(NEW_MODEL, "");
  }

  /** Staff have changed what is offered since this page was opened. */
  async notOffered() {
    await this.models.reread().catch((error) => this.composer.say(error.message));
    this.composer.say(NOT_OFFERED);
    const { thread } = this.on.reader();
    this.show({ ...thread, assistant: thread.assistant ?? this.on.assistant() });
  }

  /** The model that answers in the open thread from now on; empty: the assistant's own. */
  async #pick(model) {
    const reader = this.on.reader();
    const { thread } = reader;
    if (thread.id === "new") {
      this.store.write(NEW_MODEL, model);
      this.show({ ...thread, assistant: this.on.assistant() });
      return;
    }
    this.picker.show({ ...thread, model });
    const patched = api.patch(`threads/${thread.id}/`, { model });
    reader.changed = patched.then(
      () => true,
      () => false,
    );
    try {
      this.on.onChanged(await patched);
      if (reader === this.on.reader()) this.on.onPicked();
    } catch (error) {
      if (error.code === "model_not_offered") await this.notOffered();
      else this.composer.say(error.message);
      if (reader === this.on.reader()) this.show(thread);
    }
  }
}
