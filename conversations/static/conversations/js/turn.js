/** One turn in the log: what the user wrote, or a reply that streams in, settles and may carry a note with Retry. */

import { Parts } from "../../artifacts/js/parts.js";
import { dressCode, dressTables } from "./code.js";
import { linkCitations } from "./citations.js";
import { openMenu } from "./dialogs.js";
import { copyFrom, h, icon, iconButton } from "./dom.js";
import { editInPlace } from "./editing.js";
import { thumbs } from "./feedback.js";
import { sourceList } from "./sources.js";
import { Thought } from "./thought.js";
import { waysOn } from "./endings.js";
import { fileCards } from "./file-cards.js";
import { gettext, ngettext } from "./language.js";
import { renderWritten } from "./markdown.js";
import { versionSwitch } from "./versions.js";
import { clock, fullTime, noteOf, short, thinkingFor } from "./words.js";

function timeOf(iso) {
  return h("time", { datetime: iso, title: fullTime(iso) }, clock(iso));
}

/**
 * Another answer to the same message, by a menu where there are several models. Both answers stay.
 * @param {Reply} reply
 * @param {{onRetry: (replyId: string, model?: string) => void, otherModels: OtherModels}} on
 */
function again(reply, { onRetry, otherModels }) {
  const several = otherModels.are();
  const ask = () => {
    if (otherModels.are()) otherModels.open(button, reply, (model) => onRetry(reply.id, model));
    else onRetry(reply.id);
  };
  const label = several ? gettext("Answer again with …") : gettext("Answer again");
  const button = iconButton("retry", label, ask, several ? { "aria-haspopup": "menu" } : {});
  button.classList.add("again");
  return button;
}

function copyButton(text) {
  return iconButton("copy", gettext("Copy your message"), (event) => copyFrom(event.currentTarget, text), {
    class: "icon-button copy",
  });
}

/** What is done too seldom for a button of its own. `read` is there where the browser has voices. */
function more(label, { text, fork, share, forget, read = null }) {
  const items = [
    { label: gettext("Copy"), run: () => copyFrom(button, text) },
    ...(read && "speechSynthesis" in globalThis ? [{ label: gettext("Read aloud"), run: read }] : []),
    { label: gettext("Fork from here"), hint: gettext("A conversation of its own goes on from here."), run: fork },
    ...(share ? [{ label: gettext("Share up to here…"), run: share }] : []),
    { label: gettext("Forget this turn…"), danger: true, run: forget },
  ];
  const button = iconButton("more", label, () => openMenu(button, items), { "aria-haspopup": "menu" });
  return button;
}

/** What the person wrote, their code and emphasis as such. */
function bubble(text) {
  const words = renderWritten(text);
  dressCode(words, { growing: false });
  dressTables(words);
  return h("div", { class: "bubble prose", dir: "auto", hidden: !text }, words);
}

/** What tools of a program gave that the person uses: nobody's words. @param {Row[]} content blocks of a turn */
function toolResults(content) {
  const results = content.filter(({ type }) => type === "tool_result");
  return results.map(({ content: said }) =>
    h(
      "details",
      { class: "tool-given quiet" },
      h("summary", {}, gettext("What a tool of the program gave")),
      h("pre", { dir: "auto" }, typeof said === "string" ? said : said.map(({ text }) => text ?? "").join("\n")),
    ),
  );
}

export class UserTurn {
  /**
   * @param {object} turn
   * @param {string} turn.text
   * @param {Row[]} turn.content blocks
   * @param {import("./files.js").Files} turn.files
   * @param {OpenFile} turn.onFile
   * @param {string} [turn.clientMessageId]
   * @param {(message: Message) => void} turn.onForget
   * @param {(message: Message) => void} turn.onFork
   * @param {((message: Message) => void) | null} turn.onShare null: nothing can be shared
   * @param {(message: Message, text: string) => void} turn.onEdit
   * @param {(id: string) => void} turn.onVersion
   */
  constructor({ text, content, files, clientMessageId, onForget, onFork, onShare, onEdit, onVersion, onFile }) {
    this.text = text;
    this.on = { onForget, onFork, onShare, onEdit, onVersion };
    this.files = fileCards(content, files, onFile);
    this.clientMessageId = clientMessageId;
    this.note = h("p", { class: "turn-note quiet", hidden: true });
    this.actions = h("div", { class: "turn-actions" });
    this.element = h(
      "article",
      { class: "turn user" },
      h("h2", { class: "visually-hidden" }, gettext("You")),
      this.files,
      ...toolResults(content),
      (this.bubble = bubble(text)),
      this.actions,
      this.note,
    );
  }

  /** The server has it. @param {Message} message */
  saved(message) {
    this.message = message;
    this.say("");
    this.element.dataset.message = message.id;
    this.element.dataset.position = String(message.position);
    this.actions.replaceChildren(
      ...[
        versionSwitch(message, this.on),
        timeOf(message.created_at),
        message.text &&
          iconButton("edit", gettext("Edit your message"), () => this.edit(), { class: "icon-button edit" }),
        message.text && copyButton(message.text),
        more(gettext("More about your message"), {
          text: message.text,
          fork: () => this.on.onFork(message),
          share: this.on.onShare && (() => this.on.onShare(message)),
          forget: () => this.on.onForget(message),
        }),
      ].filter(Boolean),
    );
    if (message.status === "forgotten") this.forgotten();
    this.answered(message.status);
    return this;
  }

  /** Another version of it is written in its place. */
  edit() {
    if (!this.bubble.isConnected || this.message.status === "forgotten") return;
    const pencil = /** @type {HTMLElement | null} */ (this.actions.querySelector(".edit"));
    const asked = document.activeElement;
    const before = asked instanceof HTMLElement && asked !== document.body ? asked : pencil; // the message box, by ↑
    this.actions.hidden = true;
    editInPlace(this.bubble, this.text, {
      onSend: (text) => this.on.onEdit(this.message, text),
      onEnd: () => {
        this.actions.hidden = false;
        before?.focus();
      },
    });
  }

  /** @param {string} status `refused` while the newest reply to it was */
  answered(status) {
    const refused = status === "refused";
    this.element.classList.toggle("refused", refused);
    this.say(refused ? gettext("Not answered. Later answers are not given it.") : "", { pending: false });
  }

  /** Its words are gone. */
  forgotten() {
    this.element.classList.add("forgotten");
    this.files?.remove();
    const bubble = /** @type {HTMLElement} */ (this.element.querySelector(".bubble"));
    bubble.textContent = gettext("Forgotten");
    bubble.hidden = false;
    this.actions.replaceChildren(timeOf(this.message.created_at));
  }

  say(words, { pending = Boolean(words) } = {}) {
    this.note.textContent = words;
    this.note.hidden = !words;
    this.element.classList.toggle("pending", pending);
  }
}

export class AssistantTurn {
  #text = "";

  /**
   * @typedef {object} TurnListeners
   * @property {(replyId: string, model?: string) => void} onRetry
   * @property {(replyId: string) => void} onContinue
   * @property {() => void} onRephrase
   * @property {(id: string, provider?: string) => string} nameOfModel
   * @property {OtherModels} otherModels
   * @property {(requestId: string) => void} onBook
   * @property {() => void} onShown
   * @property {(message: Message) => void} onForget
   * @property {(message: Message) => void} onFork
   * @property {((message: Message) => void) | null} onShare
   * @property {(id: string) => void} onVersion the turn whose path becomes the active one
   * @property {(message: Message) => void} onCompare
   * @property {(artifact: Row) => void} onArtifact
   * @property {(replyId: string, toolId: string) => void} onDraft
   * @property {(words: string) => void} onAllowed a call may be made that waited for that
   * @property {OpenFile} onFile
   * @property {(words: string) => void} onProblem
   * @param {{name: string, replyId: string, files: import("./files.js").Files} & TurnListeners} options
   */
  constructor({
    name,
    replyId,
    files,
    onRetry,
    onContinue,
    onRephrase,
    nameOfModel,
    otherModels,
    onBook,
    onForget,
    onFork,
    onShare,
    onVersion,
    onCompare,
    onShown,
    onArtifact,
    onDraft,
    onAllowed,
    onFile,
    onProblem,
  }) {
    this.replyId = replyId;
    this.files = files;
    /** @type {HTMLElement | null} of its own: imported turns may have some */
    this.cards = null;
    this.onBook = onBook;
    this.onForget = onForget;
    this.onFork = onFork;
    this.onShare = onShare;
    this.onShown = onShown;
    this.onFile = onFile;
    this.request = null;
    /** @type {AssistantTurn[]} earlier answers to the same message */
    this.superseded = [];
    this.words = "";
    this.on = { onRetry, onContinue, onRephrase, nameOfModel, otherModels, onVersion, onCompare, onProblem };
    this.body = h("div", { class: "parts" });
    const onDraftOf = (toolId) => onDraft(this.replyId, toolId);
    this.parts = new Parts(this.body, { onShown, onArtifact, onDraft: onDraftOf, onAllowed });
    this.thought = new Thought();
    this.note = h("div", { class: "turn-note", hidden: true });
    this.given = h("p", { class: "turn-given", hidden: true });
    /** @type {HTMLElement | null} pages of the web that it read or found */
    this.sources = null;
    this.actions = h("div", { class: "turn-actions" });
    this.waiting = h(
      "p",
      { class: "waiting" },
      h("span", { class: "dots", "aria-hidden": "true" }, h("i"), h("i"), h("i")),
      gettext("Reading the context"),
    );
    this.element = h(
      "article",
      { class: "turn assistant live", "aria-busy": "true" },
      h("h2", { class: "visually-hidden" }, name),
      this.body,
      this.waiting,
      this.thought.element,
      this.note,
      this.given,
      this.actions,
    );
  }

  get text() {
    return this.#text;
  }

  /** From what it stands in for. */
  takeFocus() {
    this.element.tabIndex = -1;
    this.element.focus({ preventScroll: true });
  }

  /** What the book mark says, once it is known. */
  setFacts(facts) {
    this.facts = facts;
    const mark = this.actions.querySelector(".book-mark");
    // The button stays, with the focus that it may have.
    if (mark) mark.childNodes[1].textContent = given(facts);
    else this.#showActions();
  }

  /**
   * @param {string} id of the recorded request
   * @param {{message_history_count?: number, total_tokens?: number}} [facts]
   */
  setRequest(id, facts) {
    this.request = id;
    this.facts = facts ?? this.facts;
    this.waiting.lastChild.textContent = gettext("Waiting for the model");
  }

  /** The model thinks before it goes on. @param {{seconds: number, summary: string}} data */
  thinking({ seconds, summary }) {
    this.waiting.hidden = false;
    this.waiting.lastChild.textContent = thinkingFor(seconds);
    this.thought.grow(summary, this.onShown);
  }

  /** What the model writes is shown once it has been checked. */
  checking() {
    this.waiting.hidden = false;
    this.waiting.lastChild.textContent = gettext("Writing; it is shown once it has been checked");
  }

  delta(text, { whole = false } = {}) {
    this.#text = whole ? text : this.#text + text;
    this.waiting.hidden = true;
    this.parts.grow(text, { whole });
  }

  /** What the model does besides writing. @param {"tool.started" | "tool.delta" | "tool.finished"} type */
  tool(type, data) {
    this.waiting.hidden = true;
    if (type === "tool.started") this.parts.toolStarted(data);
    else if (type === "tool.delta") this.parts.toolGrew(data);
    else this.parts.toolFinished(data);
    this.onShown();
  }

  /**
   * The reply has ended.
   * @param {Message | null} message the stored turn, if there is one
   * @param {Reply} reply
   */
  settle(message, reply) {
    this.message = message;
    this.reply = reply;
    this.request = reply.request ?? this.request;
    if (reply.total_tokens != null) this.facts = reply;
    this.#text = message?.text ?? "";
    this.element.classList.remove("live");
    this.element.removeAttribute("aria-busy");
    if (message) this.element.dataset.message = message.id;
    if (message) this.element.dataset.position = String(message.position);
    this.waiting.remove();
    this.parts.finish(message?.content ?? []);
    linkCitations(this.body, message?.citations ?? [], (citation) => this.#openCited(citation));
    this.thought.finish(message?.content ?? []);
    this.cards?.remove();
    this.cards = fileCards(message?.content ?? [], this.files, this.onFile);
    if (this.cards) this.body.after(this.cards);
    this.sources?.remove();
    this.sources = sourceList(message?.sources ?? []);
    if (this.sources) this.given.after(this.sources);
    this.body.hidden = this.parts.empty;
    this.#showNote(message && message.status !== "complete" ? message.status : reply.status);
    this.#showActions();
    if (message?.status === "forgotten") this.forgotten();
    return this;
  }

  /** Its words are gone; its book still tells what it was given, as far as that is not forgotten too. */
  forgotten() {
    this.#text = "";
    this.message = { ...this.message, text: "", status: "forgotten" };
    this.element.classList.add("forgotten");
    this.note.hidden = true;
    this.given.hidden = true;
    this.sources?.remove();
    this.cards?.remove();
    this.thought.finish([]);
    this.body.hidden = false;
    this.body.replaceChildren(h("p", { class: "forgotten-words" }, gettext("Forgotten")));
    this.#showActions();
  }

  /** What of files it was given; the words lead there. @param {GivenFile[]} [files] */
  setFiles(files = []) {
    this.given.hidden = !files.length || this.message?.status === "forgotten";
    const buttons = files.map(({ id, name, words, first }) => {
      const open = () => this.onFile(id, { name, part: first, reply: this.replyId });
      return h("button", { type: "button", onclick: open }, `${name}: ${words}`);
    });
    this.given.replaceChildren(icon("file"), gettext("From"), ...buttons);
    return this;
  }

  async #readAloud() {
    const { readAloud } = await import("./reading.js");
    readAloud(this.#text, this.actions, this.on.onProblem);
  }

  #openCited({ file, name, part }) {
    this.onFile(file, { name, part, reply: this.replyId });
  }

  #showNote(status) {
    const { reply } = this;
    this.words = noteOf(status, reply);
    this.note.hidden = !this.words;
    if (!this.words) return;
    const failed =
      ["failed", "interrupted"].some((bad) => bad === status || bad === reply.status) || Boolean(reply.refusal);
    const reassure = failed && !this.#text && !/saved|stays/.test(this.words);
    const text = h("p", {}, this.words, reassure ? ` ${gettext("Your message is saved.")}` : "");
    this.note.classList.toggle("warning", failed);
    this.note.replaceChildren(...(failed ? [icon("warn")] : []), text, waysOn(reply, this.on));
  }

  /** Which model wrote it; of an imported turn as its document says. */
  #model() {
    const { message, reply } = this;
    const model = message && (message.model ?? reply?.model);
    return model && h("span", { class: "model-mark" }, this.on.nameOfModel(model, reply?.provider));
  }

  #showActions() {
    const { message, request, facts } = this;
    this.actions.replaceChildren(
      ...[
        message && versionSwitch(message, this.on),
        message && timeOf(message.created_at),
        this.#model(),
        message?.text && iconButton(
          "copy",
          gettext("Copy this reply"),
          (event) => copyFrom(event.currentTarget, message.text),
        ),
        message?.text && message.status !== "forgotten" && thumbs(message),
        message && this.reply?.fallback_text && h("span", { class: "in-place" }, this.reply.fallback_text),
        message?.status === "complete" && this.replyId && again({ ...this.reply, id: this.replyId }, this.on),
        message?.text &&
          more(gettext("More about this reply"), {
            text: message.text,
            read: () => this.#readAloud(),
            fork: () => this.onFork(message),
            share: this.onShare && (() => this.onShare(message)),
            forget: () => this.onForget(message),
          }),
        request &&
          h(
            "button",
            {
              type: "button",
              class: "book-mark",
              title: gettext("Open the book: what the model was given"),
              onclick: () => this.onBook(request),
            },
            icon("book"),
            given(facts),
            h("span", { class: "visually-hidden" }, ` – ${gettext("open what the model was given for this reply")}`),
          ),
      ].filter(Boolean),
    );
  }
}

function given(facts) {
  if (!facts) return gettext("Book");
  return gettext(
    "{turns} · {tokens} tokens",
    {
      turns: ngettext("{count} earlier turn", "{count} earlier turns", facts.message_history_count),
      tokens: short(facts.total_tokens),
    },
  );
}
