/** What is made beside the conversation: brings the shelf, the panel, the cards and the presets together. */

import { byId } from "../../conversations/js/dom.js";
import { gettext } from "../../conversations/js/language.js";
import { newId } from "../../conversations/js/outbox.js";
import { Cards } from "./cards.js";
import { Panel } from "./panel.js";
import { Presets } from "./presets.js";
import { Shelf } from "./shelf.js";

export class Workbench {
  #drafts = new Map(); // "reply tool" → {reply, id, name, title, kind, language, text, state}
  #showedBySelf = false;
  #asked = null; // {slug, id} of the preset that was clicked and has not begun

  /**
   * @param {{
   *   store: Store,
   *   announcer: import("../../conversations/js/announce.js").Announcer,
   *   log: import("../../conversations/js/log.js").Log,
   * }} parts
   * @param {{
   *   onStop: () => void,
   *   onRetry: (reply: string, model?: string) => void,
   *   nameOfModel: (id: string) => string,
   *   onRun: (frame: Row) => boolean,
   *   onError: (words: string) => void,
   *   isRunning: () => boolean,
   * }} on
   */
  constructor({ store, announcer, log }, on) {
    this.announcer = announcer;
    this.log = log;
    this.on = on;
    this.shelf = new Shelf(() => this.#changed());
    this.panel = new Panel(this.shelf, store, announcer);
    this.cards = new Cards(log.element, this.shelf, {
      onOpen: (id) => this.panel.showArtifact(id),
      onRestore: (id) => this.panel.restore(id),
      onStop: () => on.onStop(),
      onRetry: (reply, model) => on.onRetry(reply, model),
      nameOfModel: on.nameOfModel,
      onDraft: (reply) => this.#showDraftOf(reply),
      onGrown: () => log.scroll.grown(),
    });
    this.presets = new Presets({
      onRun: (preset) => this.#run(preset),
      reason: () => ({
        running: on.isRunning() || this.#asked !== null,
        empty: !log.element.querySelector(".turn[data-position]"),
      }),
    });
    this.button = byId("artifacts");
    this.button.addEventListener("click", () => (this.panel.showsArtifacts ? this.panel.close() : this.#openNewest()));
  }

  // The thread

  open(threadId) {
    this.panel.close();
    this.cards.clear();
    this.#drafts.clear();
    this.#asked = null;
    this.#showedBySelf = false;
    this.shelf.open(threadId);
    this.#offer(threadId);
  }

  /** A new thread has got its id. */
  named(threadId) {
    this.shelf.threadId = threadId;
    this.#offer(threadId);
  }

  /** Reads anew what there is: after the turns have been loaded, and after each reconnection. */
  async load() {
    await this.shelf.load().catch((error) => this.on.onError(error.message));
  }

  /** The turns on the page have changed. @param {boolean} [complete] whether there are no earlier ones to load */
  turnsChanged(complete = this.cards.complete) {
    this.cards.complete = complete;
    this.cards.place();
  }

  // What happens

  requested(reply, { preset }) {
    this.#asked = null;
    const { name, kind } = this.presets.find(preset);
    this.cards.requested(reply, name, kind);
    this.announcer.say(gettext("Writing “{name}”.", { name }));
  }

  isSilent(reply) {
    return this.cards.isWork(reply);
  }

  get silentReply() {
    return this.cards.runningReply;
  }

  /** @param {"tool.started" | "tool.delta" | "tool.finished"} type */
  tool(reply, type, data) {
    const key = `${reply} ${data.id}`;
    if (type === "tool.finished") return this.#toolFinished(reply, key, data);
    if (type === "tool.started") return undefined;
    const before = this.#drafts.get(key) ?? {
      reply,
      id: data.id,
      title: this.cards.nameOf(reply),
      kind: this.cards.kindOf(reply),
      language: "",
      text: "",
      state: "writing",
    };
    const draft = Object.assign(before, {
      title: data.title || before.title,
      kind: data.kind || before.kind,
      language: data.language || before.language,
      text: before.text + (data.text ?? ""),
    });
    this.#drafts.set(key, draft);
    this.cards.grew(reply, draft);
    if (this.panel.draft === draft) this.panel.draftGrew(draft);
    else this.#showBySelf(draft);
    return undefined;
  }

  thinking(reply, { seconds }) {
    this.cards.thinking(reply, seconds);
  }

  #toolFinished(reply, key, { is_error: failed, artifact, text }) {
    const draft = this.#drafts.get(key);
    this.#drafts.delete(key);
    if (artifact) return this.#saved(artifact, draft);
    if (draft && failed) this.#lost(draft);
    this.announcer.say(text);
    return undefined;
  }

  /** A reply is over. @param {{artifact?: Row | null, error?: Row | null, reply?: Reply}} data */
  ended(reply, status, data) {
    if (!this.cards.isWork(reply)) this.#dropDrafts(reply);
    else {
      const mine = [...this.#drafts.values()].find((draft) => draft.reply === reply);
      const waiting = this.panel.draft?.reply === reply ? this.panel.draft : mine;
      this.cards.ended(reply, status, data);
      if (data.artifact) this.#saved(data.artifact, waiting);
      this.#dropDrafts(reply);
      if (!data.artifact) this.announcer.say(gettext("“{reply}” was not made.", { reply: this.cards.nameOf(reply) }));
    }
    this.turnsChanged();
  }

  /** The server refused a preset. @returns {boolean} whether it was the one that was clicked */
  refused(clientMessageId) {
    if (!clientMessageId || this.#asked?.id !== clientMessageId) return false;
    this.#asked = null;
    return true;
  }

  // What a reader opens

  /**
   * @param {{id?: string | null, title?: string, version?: number | null}} artifact as an event or a stored turn tells
   *   of it
   */
  async openArtifact({ id, title, version }) {
    const named = () =>
      [...this.shelf.present, ...this.shelf.deleted].find((artifact) =>
        id ? artifact.id === id : artifact.title.toLowerCase() === title?.toLowerCase(),
      );
    if (!named()) await this.load();
    const found = named();
    if (found) {
      this.panel.showArtifact(found.id, { number: version && version <= found.version ? version : null });
    } else {
      const words = gettext("“{title}” is not there any more.", { title: title ?? gettext("This artifact") });
      this.panel.showList({ notice: { words, warning: true } });
    }
  }

  openDraft(reply, toolId) {
    const draft = this.#drafts.get(`${reply} ${toolId}`);
    if (draft) this.panel.showDraft(draft, { focus: true });
  }

  #showDraftOf(reply) {
    const draft = [...this.#drafts.values()].findLast((one) => one.reply === reply);
    if (draft) this.panel.showDraft(draft, { focus: true });
  }

  /** The first time a panel opens by itself; later it only follows where it shows nothing that the reader chose. */
  #showBySelf(draft) {
    if (!draft.kind && !draft.text) return;
    const { panel } = this;
    const known =
      panel.mode === "artifact" && this.shelf.find(panel.shownId)?.title.toLowerCase() === draft.title.toLowerCase();
    const follows = ["list", "draft"].includes(panel.mode) || known;
    const opens = !panel.isOpen && !this.#showedBySelf && !panel.frame.narrow.matches;
    if (!follows && !opens) return;
    if (panel.isOpen && panel.frame.narrow.matches) return;
    this.#showedBySelf = true;
    panel.showDraft(draft);
  }

  async #saved(artifact, draft) {
    const follows = draft && this.panel.draft === draft;
    try {
      await this.shelf.refresh(artifact.id);
    } catch (error) {
      this.on.onError(error.message);
      return;
    }
    if (follows && this.panel.draft === draft)
      this.panel.showArtifact(artifact.id, { number: artifact.version, focus: false });
    this.announcer.say(
      gettext("“{title}” is saved, version {version}.", { title: artifact.title, version: artifact.version }),
    );
  }

  #lost(draft) {
    draft.state = "lost";
    this.panel.draftGrew(draft);
  }

  #dropDrafts(reply) {
    for (const [key, draft] of this.#drafts) {
      if (draft.reply !== reply) continue;
      this.#drafts.delete(key);
      if (this.panel.draft === draft) this.#lost(draft);
    }
  }

  #openNewest() {
    const { present } = this.shelf;
    if (present.length === 1) this.panel.showArtifact(present[0].id);
    else this.panel.showList();
  }

  #offer(threadId) {
    this.presets.open(threadId).catch((error) => this.on.onError(error.message));
  }

  /** The same id for each further click until it has begun: the server makes one artifact of them. */
  #run({ slug }) {
    const id = this.#asked?.slug === slug ? this.#asked.id : newId();
    if (!this.on.onRun({ type: "preset.run", preset: slug, client_message_id: id })) {
      this.on.onError(gettext("There is no connection to the server yet. Try again as soon as it is back."));
      return;
    }
    this.#asked = { slug, id };
  }

  #changed() {
    const number = this.shelf.present.length;
    this.button.hidden = !number && !this.shelf.deleted.length;
    byId("artifacts-count").textContent = String(number);
    byId("artifacts-word").textContent = number === 1 ? "artifact" : "artifacts";
    this.panel.changed();
    this.cards.place();
  }
}
