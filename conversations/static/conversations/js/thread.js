/**
 * One open thread: loads its turns, follows its socket, sends and retries. The one place where events become changes.
 */

import { api, ApiError } from "./api.js";
import { gettext, errorText } from "./language.js";
import { Sending } from "./sending.js";
import { ThreadSocket } from "./socket.js";

const PAGE = 40;
const FAR = 200;
const AWAY = 2000; // milliseconds until a message goes again that the database was away for
const ACCESS_LOST = new Set(["not_authenticated", "notice_not_accepted", "thread_not_found", "not_found"]);
const NEVER_AGAIN = new Set(["gone", "forbidden"]);
const ENDINGS = new Set(["reply.completed", "reply.stopped", "reply.interrupted", "reply.failed"]);

export class OpenThread {
  #seen = new Map(); // reply id → newest seq
  #ended = new Set(); // reply ids
  #previous = null;
  #earlier = null; // while older turns are loading
  #queue = Promise.resolve();
  #loaded = false;
  #failed = false;
  #isOver = false; // nothing can be sent here any more
  #thinks = null; // the reply of which it was said
  /** @type {Promise<boolean> | null} whether a change of its model, which what is sent waits for, went well */
  changed = null;

  /**
   * @param {Thread} thread `id` may be "new"
   * @param {Row} parts log, store, book, announcer, workbench
   * @param {Row} on onNamed, onTouched, onRunning, onState, onRefused, onNotOffered,
   *   onError, onEarlier, onLoaded, onCleared, onMoved
   */
  constructor(thread, { log, store, book, announcer, workbench }, on) {
    this.thread = thread;
    this.on = on;
    this.log = log;
    this.store = store;
    this.book = book;
    this.announcer = announcer;
    this.workbench = workbench;
    this.sending = new Sending(this.store, thread.id, this.log);
    this.running = null;
    this.#queue = thread.id === "new" ? this.#afterLoad() : this.#load();
    this.socket = new ThreadSocket(thread.id, {
      onFrame: (frame) => this.#enqueue(() => this.#apply(frame)),
      onOpen: () => {
        const complete = !this.#loaded; // what is being loaded now will hold all that was said before
        this.#enqueue(() => this.#resume(complete));
      },
      onState: (state) => this.#state(state),
    });
  }

  close() {
    this.closed = true;
    this.socket.close();
  }

  // What the reader does

  /** `files` are ids; `assistant` and `model` are those of a new thread. */
  send(content, files, assistant, model) {
    const { id, temporary } = this.thread;
    if (id === "new") this.sending.add(content, files, { assistant, model, temporary });
    else this.sending.add(content, files);
    this.#pump();
    this.#giveBack();
  }

  /** Another version of a message: it is sent as others are, and what follows the first version leaves the page. */
  edit(message, text) {
    const files = message.content.filter(({ type }) => type === "file").map(({ file }) => file);
    this.sending.add(text, files, { edits: message.id });
    this.#pump();
    this.#giveBack();
  }

  /** The path through a turn becomes the active one. @param {string} id */
  async goTo(id) {
    if (this.running) {
      return this.on.onError(gettext("A reply is still being written. Stop it first, or wait for its end."));
    }
    try {
      await api.patch(`threads/${this.thread.id}/`, { active: id });
    } catch (error) {
      return this.on.onError(error.message);
    }
    return this.#enqueue(() => this.#moved(id));
  }

  /** Another branch is shown. @param {string} [id] a turn of it, to be in view */
  async #moved(id) {
    await this.#reread({ cleared: true, isOtherBranch: true });
    if (this.closed) return;
    this.sending.showAll();
    while (id && !this.log.turn(id) && !this.closed && (await this.earlier(FAR)));
    if (!this.closed) this.on.onMoved(id && this.log.turn(id));
  }

  #giveBack() {
    if (!this.#isOver) return;
    for (const { content, files } of this.sending.takeBack().reverse()) this.on.onRefused(content, files);
  }

  stop() {
    if (!this.running) return;
    if (!this.socket.send({ type: "reply.stop", reply: this.running })) {
      api.post(`replies/${this.running}/stop/`).catch((error) => this.on.onError(error.message));
    }
  }

  /** @param {Row} frame @returns {boolean} whether it went out */
  runPreset(frame) {
    return this.socket.send(frame);
  }

  /** @param {string} replyId @param {string} [model] to be asked in place of the one before */
  retry(replyId, model) {
    this.#again({ type: "reply.retry", reply: replyId, model });
  }

  /** Goes on where that reply was cut short. */
  goOn(replyId) {
    this.#again({ type: "reply.continue", reply: replyId });
  }

  #again(frame) {
    if (!this.socket.send(frame))
      this.on.onError(gettext("There is no connection to the server yet. Try again as soon as it is back."));
  }

  /** @returns {Promise<boolean>} whether older turns came */
  earlier(size = PAGE) {
    if (!this.#previous) return Promise.resolve(false);
    this.#earlier ??= this.#loadEarlier(size).finally(() => {
      this.#earlier = null;
    });
    return this.#earlier;
  }

  /** Loads older turns until the one at this position is there. @returns {Promise<HTMLElement | null>} */
  async reach(position) {
    while (!this.log.at(position) && !this.closed && (await this.earlier(FAR)));
    return this.log.at(position);
  }

  async #loadEarlier(size) {
    let came = false;
    try {
      const page = await api.get(this.#previous.replace(/page_size=\d+/, `page_size=${size}`));
      if (this.closed) return false;
      this.#remember(page);
      this.log.prepend(page.results);
      this.workbench.turnsChanged(!this.#previous);
      came = true;
    } catch (error) {
      this.on.onError(error.message);
    }
    this.on.onEarlier(Boolean(this.#previous));
    return came;
  }

  /** All turns that were there are gone. */
  cleared() {
    this.#enqueue(async () => {
      await this.#reread({ cleared: true });
      if (!this.closed) this.on.onCleared();
    });
  }

  // Loading and reconnecting

  async #load() {
    try {
      const page = await this.#newest();
      if (this.closed) return;
      this.#remember(page);
      this.log.merge(page.results);
      this.workbench.turnsChanged(!this.#previous);
      this.workbench.load();
      this.on.onEarlier(Boolean(this.#previous));
    } catch (error) {
      this.#failed = true;
      if (!this.closed) this.on.onLoadFailed(error);
    }
    await this.#afterLoad();
  }

  async #afterLoad() {
    this.#loaded = true;
    if (this.closed) return;
    this.#setRunning(this.#liveReply);
    this.sending.showAll();
    this.on.onLoaded();
  }

  /** Once more where a reply ended while it was read: then its end stands there, and not yet its answer. */
  async #newest() {
    const path = `threads/${this.thread.id}/messages/?before=end&page_size=${PAGE}`;
    const page = await api.get(path);
    return lacksAnswer(page.results) ? api.get(path) : page;
  }

  #remember({ previous, results }) {
    this.#previous = previous;
    this.#take(results);
  }

  /** What the store says counts: replies that have ended, messages that did arrive although nobody heard of it. */
  #take(messages) {
    for (const { reply, client_message_id: id } of messages) {
      if (reply && reply.status !== "running") this.#ended.add(reply.id);
      if (id && this.sending.confirmed(id)) this.log.withdraw(id);
    }
  }

  /** After every opening: what was missed is read from the store, a running reply is followed from where it was. */
  async #resume(complete) {
    this.sending.again();
    if (!complete && this.thread.id !== "new") {
      await this.#reread().catch((error) => {
        this.socket.drop();
        throw error;
      });
      if (this.closed) return;
    }
    if (this.running) {
      this.socket.send({ type: "reply.resume", reply: this.running, after: this.#seen.get(this.running) ?? 0 });
      this.socket.expect();
    }
    this.#pump();
  }

  /** What is there now. `cleared`: of what is shown nothing counts any more; `isOtherBranch`: nor where it stands. */
  async #reread({ cleared = false, isOtherBranch = false } = {}) {
    const page = await this.#newest();
    if (this.closed) return;
    if (this.#failed || isOtherBranch) this.log.clear();
    this.#failed = false;
    const whole = cleared || !page.previous;
    if (whole) this.#previous = page.previous;
    this.#take(page.results);
    this.log.merge(page.results, { whole });
    this.workbench.turnsChanged(whole ? !page.previous : undefined);
    this.workbench.load();
    this.#setRunning(this.#liveReply);
    this.on.onEarlier(Boolean(this.#previous));
  }

  get #liveReply() {
    return this.log.live?.replyId ?? this.workbench.silentReply;
  }

  /** Frames wait for the load, so that nothing is shown out of order. */
  #enqueue(task) {
    this.#queue = this.#queue
      .then(() => (this.closed ? undefined : task()))
      .catch((error) => {
        if (error instanceof ApiError) this.on.onError(error.message);
        else reportError(error); // one broken frame must not end the queue
      });
  }

  #state(state) {
    this.sending.setConnected(state === "open");
    this.on.onState(state);
    this.#isOver = NEVER_AGAIN.has(state);
    this.#giveBack();
  }

  #pump() {
    if (!this.running) this.sending.pump((frame) => this.socket.send(frame));
  }

  // Events

  /** @param {Row} frame */
  #apply({ type, reply, seq, data }) {
    if (type === "error") return this.#refused(data);
    if (type === "thread.cleared") return this.cleared();
    if (type === "thread.moved") return this.#movedElsewhere();
    if (!reply || this.#ended.has(reply) || seq <= (this.#seen.get(reply) ?? 0)) return undefined;
    this.#seen.set(reply, seq);
    if (ENDINGS.has(type)) return this.#end(reply, type.slice("reply.".length), data);
    this.socket.expect();
    if (type === "message.saved") return this.#saved(reply, data);
    if (type === "artifact.requested") return this.#requested(reply, data);
    if (type === "reply.thinking") this.#announceThinking(reply, data);
    if (this.workbench.isSilent(reply)) return this.#silent(reply, type, data);
    const turn = this.log.live?.replyId === reply ? this.log.live : this.log.begin(reply, null);
    if (this.running !== reply) this.#setRunning(reply);
    if (type === "context.built") {
      turn.setRequest(data.request, data);
      this.book.gauge(data.request, data);
    } else if (type === "reply.thinking") {
      turn.thinking(data);
    } else if (type === "reply.checking") {
      turn.checking();
    } else if (type === "reply.delta") {
      if (data.earlier) this.announcer.skip(data.text);
      turn.delta(data.text, { whole: data.whole });
    } else if (type.startsWith("tool.")) {
      turn.tool(type, data);
      this.workbench.tool(reply, type, data);
    }
    return undefined;
  }

  #silent(reply, type, data) {
    if (type.startsWith("tool.")) this.workbench.tool(reply, type, data);
    else if (type === "reply.thinking") this.workbench.thinking(reply, data);
  }

  /** Once a reply, and only where it is worth waiting for. */
  #announceThinking(reply, { seconds }) {
    if (seconds < 1 || this.#thinks === reply) return;
    this.#thinks = reply;
    this.announcer.say(gettext("Thinking."));
  }

  /** In another tab, or by a message of this one, which is shown already. */
  async #movedElsewhere() {
    const { results } = await this.#newest();
    if (this.closed || this.running) return;
    if (!results.every(({ id }) => this.log.turn(id)) || !this.log.endsWith(results.at(-1)?.id)) await this.#moved();
  }

  async #saved(reply, { thread, title, message }) {
    if (this.thread.id === "new") this.#named(thread, title);
    else if (!this.log.empty && !this.log.follows(message)) await this.#moved(message.id);
    this.sending.confirmed(message.client_message_id);
    this.log.leaveAfter(message);
    this.log.saved(message);
    this.log.begin(reply, message.id);
    this.workbench.turnsChanged();
    this.#setRunning(reply);
    this.announcer.begin();
    this.on.onTouched({ id: thread, title });
  }

  /** A preset is at work: no turn of it, only a card. */
  #requested(reply, data) {
    this.workbench.requested(reply, data);
    this.#setRunning(reply);
  }

  #named(id, title) {
    this.thread = { ...this.thread, id, title };
    if (this.thread.temporary) this.store.keepInTab(id, true);
    this.sending.moved(id);
    this.socket.threadId = id;
    this.on.onNamed(this.thread);
  }

  #end(reply, status, data) {
    this.#ended.add(reply);
    this.on.onOver(data.message?.text ?? "");
    if (this.workbench.isSilent(reply)) {
      this.workbench.ended(reply, status, data);
      this.#setRunning(null);
      return this.#pump();
    }
    const turn = this.log.settled(data.message, data.reply);
    this.log.answered(data.user_message, data.user_message_status);
    this.announcer.finish(turn.text, turn.words);
    this.workbench.ended(reply, status, data);
    this.#setRunning(null);
    this.on.onEnded(turn);
    return this.#pump();
  }

  #refused(error) {
    const { code, details } = error;
    const message = errorText(error);
    if (ACCESS_LOST.has(code)) return undefined; // the connection's own bar says it, with a way out
    const id = details?.client_message_id;
    if (this.workbench.refused(id)) return this.on.onError(message);
    if (id && code === "reply_in_progress") {
      this.sending.postponed(id); // the end of that reply sends it
      return undefined;
    }
    if (id && code === "unavailable") {
      this.sending.postponed(id); // it may have been stored: it goes again under the same id
      setTimeout(() => this.#pump(), AWAY);
      return undefined;
    }
    const refused = id && this.sending.refused(id);
    if (refused) this.on.onRefused(refused.content, refused.files);
    if (code === "model_not_offered") return this.on.onNotOffered();
    return this.on.onError(message);
  }

  #setRunning(reply) {
    this.running = reply;
    this.on.onRunning(Boolean(reply));
  }
}

/** @param {Row[]} messages */
function lacksAnswer(messages) {
  const reply = messages.findLast(({ role }) => role === "user")?.reply;
  return reply?.status === "completed" && messages.at(-1).role === "user";
}
