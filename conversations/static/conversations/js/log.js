/** The turns on the page, in order. Knows nothing of sockets: it is told what was loaded, saved and streamed. */

import { newDays } from "./days.js";
import { h } from "./dom.js";
import { gettext } from "./language.js";
import { AssistantTurn, UserTurn } from "./turn.js";

/** Imported turns have no reply. */
const COMPLETED = { id: null, status: "completed", error: null, request: null };

/**
 * @param {Message[]} messages in order
 * @returns {Message[]} those whose reply ended without a turn and was not made again
 */
function unanswered(messages) {
  return messages.filter(
    ({ role, reply, status }, place) =>
      role === "user" &&
      reply &&
      !["running", "completed"].includes(reply.status) &&
      status === "complete" &&
      messages[place + 1]?.role === "user",
  );
}

export class Log {
  /** @type {Map<string, UserTurn | AssistantTurn>} by message id */
  #byMessage = new Map();
  /** @type {Map<string, UserTurn>} sent, not confirmed, by client_message_id */
  #pending = new Map();
  #windowStart = null;
  /** @type {Map<string, GivenFile[]>} by reply */
  #given = new Map();
  #lostFocus = false; // with a turn that left the page; what takes its place gets it
  /** @type {AssistantTurn | null} */
  live = null;

  /**
   * @param {HTMLElement} element
   * @param {import("./scroll.js").Scroll} scroll
   * @typedef {import("./turn.js").TurnListeners} TurnListeners
   * @param {Omit<TurnListeners, "onRephrase" | "onShown"> & {
   *   files: import("./files.js").Files,
   *   onEdit: (message: Message, text: string) => void,
   *   onRephrase: (text: string) => void,
   *   onText: (turn: AssistantTurn) => void,
   * }} listeners
   */
  constructor(element, scroll, listeners) {
    this.element = element;
    this.scroll = scroll;
    this.listeners = listeners;
    this.assistantName = gettext("Assistant");
  }

  get empty() {
    return this.element.childElementCount === 0;
  }

  /** Whether there is no turn, nor a note in the place of one; documents may be there. */
  get saysNothing() {
    return !this.element.querySelector(".turn, .turn-note");
  }

  clear() {
    this.#byMessage.clear();
    this.#pending.clear();
    this.#windowStart = null;
    this.#given = new Map();
    this.live = null;
    this.element.replaceChildren();
  }

  /** Instead of turns. @param {string} message why there are none @param {() => void} again */
  failed(message, again) {
    const words = gettext("This conversation can't be shown. {message}", { message });
    const button = h("button", { type: "button", class: "button", onclick: again }, gettext("Try again"));
    this.element.replaceChildren(h("div", { class: "turn-note warning" }, h("p", {}, words), button));
  }

  /** Turns older than those shown. */
  prepend(messages) {
    const turns = this.#turnsOf(messages);
    this.scroll.keepPlace(this.element.querySelector(".turn"), () => {
      this.element.prepend(...turns.map((turn) => turn.element));
      this.markWindow();
      this.#markDays();
    });
  }

  /**
   * The newest turns, at the start and after every reconnection: drops what is gone, adds what is missing.
   * @param {Message[]} messages
   * @param {{whole?: boolean}} [options] `whole`: there are no others before them
   */
  merge(messages, { whole = false } = {}) {
    this.#dropGone(messages, whole);
    for (const { id, role, status } of messages) {
      if (status === "forgotten") this.forget(id);
      else if (role === "user") this.answered(id, status);
    }
    for (const message of messages.filter(({ id }) => !this.#byMessage.has(id))) {
      if (message.role === "user") this.saved(message);
      else this.settled(message, message.reply ?? COMPLETED);
    }
    for (const { id, reply } of unanswered(messages)) {
      this.#byMessage.get(id).element.after(this.settled(null, reply).element);
    }
    const question = messages.findLast(({ role }) => role === "user");
    const reply = question?.reply;
    if (!reply) return;
    const answered = messages.at(-1).reply?.id === reply.id && messages.at(-1) !== question;
    if (reply.status === "running") this.begin(reply.id, question.id);
    else if (!answered && reply.status !== "completed") this.settled(null, reply);
  }

  /** A message on its way. */
  pending(entry, note) {
    const { content: text, files = [], client_message_id: clientMessageId } = entry;
    const turn = this.#userTurn({ text, content: files.map((file) => ({ type: "file", file })), clientMessageId });
    turn.say(note);
    this.#pending.set(entry.client_message_id, turn);
    this.element.append(turn.element);
    this.scroll.toEnd();
  }

  /** What is said below messages on their way. */
  sayPending(noteFor) {
    for (const [id, turn] of this.#pending) turn.say(noteFor(id));
  }

  /** The server refused it: it goes back to the composer. */
  withdraw(clientMessageId) {
    this.#pending.get(clientMessageId)?.element.remove();
    this.#pending.delete(clientMessageId);
  }

  /** A user turn is stored. */
  saved(message) {
    if (this.#byMessage.has(message.id)) return;
    const mine = this.#pending.get(message.client_message_id);
    const turn = (mine ?? this.#userTurn(message)).saved(message);
    this.#pending.delete(message.client_message_id);
    this.#byMessage.set(message.id, turn);
    if (!mine) this.#insert(turn);
    this.#markDays();
    this.scroll.grown();
  }

  /** Whether the turn that a message follows is shown, so that it can stand below that. @param {Message} message */
  follows({ parent }) {
    return !parent || this.#byMessage.has(parent);
  }

  /** @param {string | undefined} messageId whether it is the last turn that is stored */
  endsWith(messageId) {
    const elements = /** @type {HTMLElement[]} */ ([...this.element.querySelectorAll(".turn[data-message]")]);
    return elements.at(-1)?.dataset.message === messageId;
  }

  /** @param {string} messageId */
  turn(messageId) {
    return this.#byMessage.get(messageId)?.element ?? null;
  }

  /** The newest message of the person's is edited. @returns {boolean} whether there is one */
  editLast() {
    const elements = /** @type {HTMLElement[]} */ ([...this.element.querySelectorAll(".turn.user[data-message]")]);
    const turn = this.#byMessage.get(elements.at(-1)?.dataset.message);
    if (turn instanceof UserTurn) turn.edit();
    return Boolean(turn);
  }

  /** A reply begins: whatever answered that turn before is superseded. */
  begin(replyId, userMessageId) {
    if (this.live?.replyId === replyId) return this.live;
    const superseded = this.#takeFrom(this.turn(userMessageId)?.nextElementSibling);
    this.live = this.#assistantTurn(replyId);
    this.live.superseded = superseded;
    this.#insert(this.live);
    if (this.#lostFocus) this.live.takeFocus();
    this.#lostFocus = false;
    this.scroll.grown();
    return this.live;
  }

  /** A reply has ended; `message` is null where nothing was stored. */
  settled(message, reply) {
    const turn = this.live?.replyId === reply.id && reply.id ? this.live : this.#assistantTurn(reply.id);
    if (turn === this.live) this.live = null;
    turn.settle(message, reply).setFiles(this.#given.get(reply.id));
    if (message) this.#byMessage.set(message.id, turn);
    else this.#bringBack(turn);
    if (!turn.element.isConnected) this.#insert(turn);
    this.#markDays();
    this.scroll.grown();
    return turn;
  }

  /** What became of a message of the user's. */
  answered(messageId, status) {
    const turn = this.#byMessage.get(messageId);
    if (status && turn instanceof UserTurn) turn.answered(status);
  }

  /** Its words are gone, its place stays. */
  forget(messageId) {
    this.#byMessage.get(messageId)?.forgotten();
  }

  /** @returns {HTMLElement | null} the turn at a position of the thread */
  at(position) {
    return this.element.querySelector(`[data-position="${position}"]`);
  }

  /** The reply that this request was made for. */
  turnOf(request) {
    return this.#assistantTurns.find((turn) => turn.request === request);
  }

  /** What replies were given of files, also those that are loaded later. @param {Map<string, GivenFile[]>} given */
  setGiven(given) {
    this.#given = given;
    for (const turn of this.#assistantTurns) turn.setFiles(given.get(turn.replyId));
  }

  /** The newest recorded request that a shown reply carries. */
  get newestRequest() {
    return this.#assistantTurns.findLast((turn) => turn.request)?.request ?? null;
  }

  get #assistantTurns() {
    return [...this.#byMessage.values()].filter((turn) => turn instanceof AssistantTurn);
  }

  /** Marks quietly where the window of the newest request begins, also when that turn is loaded later. */
  markWindow(messageId = this.#windowStart) {
    this.#windowStart = messageId;
    this.element.querySelector(".window-start")?.classList.remove("window-start");
    this.#byMessage.get(messageId)?.element.classList.add("window-start");
  }

  /** Above the first turn of each day, which day it is: long threads and imported ones go on for many. */
  #markDays() {
    const elements = /** @type {HTMLElement[]} */ ([...this.element.querySelectorAll(".turn[data-message]")]);
    const turns = elements.map((element) => this.#byMessage.get(element.dataset.message)).filter(Boolean);
    const days = newDays(turns.map((turn) => turn.message.created_at));
    turns.forEach(({ element }, place) => {
      const before = element.previousElementSibling;
      const shown = before?.matches(".turn-day") ? before : null;
      if (shown && shown.textContent === days[place]) return;
      shown?.remove();
      if (days[place]) element.before(h("p", { class: "turn-day" }, days[place]));
    });
    for (const day of this.element.querySelectorAll(".turn-day")) {
      if (!day.nextElementSibling?.matches(".turn[data-message]")) day.remove();
    }
  }

  #turnsOf(messages) {
    const failed = new Set(unanswered(messages));
    return messages
      .filter(({ id }) => !this.#byMessage.has(id))
      .flatMap((message) => {
        const isOfPerson = message.role === "user";
        const turn = isOfPerson ? this.#userTurn(message).saved(message) : this.#answer(message.reply, message);
        this.#byMessage.set(message.id, turn);
        return failed.has(message) ? [turn, this.#answer(message.reply)] : [turn];
      });
  }

  /** A reply that has ended, whether it left a turn or not. @param {Message | null} [message] */
  #answer(reply, message = null) {
    return this.#assistantTurn(reply?.id).settle(message, reply ?? COMPLETED).setFiles(this.#given.get(reply?.id));
  }

  #userTurn(options) {
    const { files, onForget, onFork, onShare, onEdit, onVersion, onFile } = this.listeners;
    return new UserTurn({ ...options, files, onForget, onFork, onShare, onEdit, onVersion, onFile });
  }

  #assistantTurn(replyId) {
    const turn = new AssistantTurn({
      name: this.assistantName,
      replyId,
      files: this.listeners.files,
      onRetry: this.listeners.onRetry,
      onContinue: this.listeners.onContinue,
      onRephrase: () => this.listeners.onRephrase(this.#questionBefore(turn.element)?.text ?? ""),
      nameOfModel: this.listeners.nameOfModel,
      onProblem: this.listeners.onProblem,
      otherModels: this.listeners.otherModels,
      onBook: this.listeners.onBook,
      onForget: this.listeners.onForget,
      onFork: this.listeners.onFork,
      onShare: this.listeners.onShare,
      onVersion: this.listeners.onVersion,
      onCompare: this.listeners.onCompare,
      onArtifact: this.listeners.onArtifact,
      onDraft: this.listeners.onDraft,
      onAllowed: this.listeners.onAllowed,
      onFile: this.listeners.onFile,
      onShown: () => {
        this.scroll.grown();
        this.listeners.onText(turn);
      },
    });
    return turn;
  }

  /** @returns {Message | undefined} what the user said before this answer */
  #questionBefore(element) {
    let before = element;
    while (before && !before.matches(".turn.user")) before = before.previousElementSibling;
    return this.#byMessage.get(before?.dataset.message)?.message;
  }

  /** Before the messages that the server does not have yet. */
  #insert(turn) {
    const firstPending = this.#pending.values().next().value;
    this.element.insertBefore(turn.element, firstPending?.element ?? null);
  }

  /**
   * Answers that a later attempt superseded elsewhere, turns that were cleared away, and notes of replies that left no
   * turn.
   */
  #dropGone(messages, whole) {
    const stored = new Set(messages.map(({ id }) => id));
    const first = whole ? 0 : (messages[0]?.position ?? Infinity);
    for (const note of this.element.querySelectorAll(".turn.assistant:not(.live, [data-message])")) {
      if ((this.#questionBefore(note)?.position ?? first) >= first) note.remove();
    }
    for (const [id, turn] of this.#byMessage) {
      if (turn.message.position < first || stored.has(id)) continue;
      turn.element.remove();
      this.#byMessage.delete(id);
    }
  }

  /** What stood below the turn that a new message follows stands on another branch. @param {Message} message */
  leaveAfter({ id, parent }) {
    const before = parent && this.turn(parent);
    if (this.#byMessage.has(id) || (parent && !before)) return;
    const first = before ? before.nextElementSibling : this.element.firstElementChild;
    // Notes of replies that left no turn stay below their message.
    if (this.#storedFrom(first).some((element) => this.#byMessage.has(element.dataset.message))) this.#takeFrom(first);
  }

  /** @returns {AssistantTurn[]} the stored turns from that element on, which leave the page */
  #takeFrom(first) {
    const taken = [];
    for (const element of this.#storedFrom(first)) {
      const turn = this.#byMessage.get(element.dataset.message);
      if (turn) taken.push(turn);
      this.#byMessage.delete(element.dataset.message);
      if (element.contains(document.activeElement)) this.#lostFocus = true;
      element.remove();
    }
    return taken;
  }

  /** @returns {HTMLElement[]} from that one on, to the first that is on its way */
  #storedFrom(first) {
    const elements = [];
    for (let each = first; each && !each.classList.contains("pending"); each = each.nextElementSibling) {
      elements.push(each);
    }
    return elements;
  }

  /** An attempt that left nothing supersedes nothing. */
  #bringBack(attempt) {
    for (const turn of attempt.superseded) {
      this.#byMessage.set(turn.message.id, turn);
      attempt.element.before(turn.element);
    }
  }
}
