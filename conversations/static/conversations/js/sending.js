/**
 * Sends the messages of a thread one at a time: the next one when its reply has ended. Each stays until it is
 * confirmed.
 */

import { gettext } from "./language.js";
import { Outbox } from "./outbox.js";

export class Sending {
  #flying = null; // client_message_id of the message that went out and is not confirmed

  /** @param {Store} store @param {string} threadId @param {import("./log.js").Log} log */
  constructor(store, threadId, log) {
    this.outbox = new Outbox(store, threadId);
    this.log = log;
    this.connected = false;
  }

  /** What an earlier visit left. */
  showAll() {
    for (const entry of this.outbox.entries) this.#show(entry);
  }

  /**
   * `assistant`, `model` and `temporary` are those of a new thread; `edits` is the message that this is another version
   * of.
   * @param {string} content
   * @param {string[]} [files]
   * @param {{assistant?: string, model?: string, edits?: string, temporary?: boolean}} [of]
   */
  add(content, files, { assistant, model, edits, temporary } = {}) {
    this.#show(this.outbox.add(content, files, { assistant, thread_model: model, edits, temporary }));
  }

  moved(threadId) {
    this.outbox.move(threadId);
  }

  setConnected(connected) {
    this.connected = connected;
    this.#say();
  }

  /** The connection is a new one: whatever was on its way has to go again. */
  again() {
    this.#flying = null;
  }

  /** @param {(frame: Row) => boolean} send */
  pump(send) {
    const { head } = this.outbox;
    if (!head || this.#flying) return;
    if (send({ type: "message.send", ...head })) this.#flying = head.client_message_id;
    this.#say();
  }

  /** The server has it. @returns {boolean} whether it was ours and not known to be there */
  confirmed(clientMessageId) {
    if (this.#flying === clientMessageId) this.#flying = null;
    return Boolean(this.outbox.remove(clientMessageId));
  }

  /** The server can't take it yet; it stays for later. */
  postponed(clientMessageId) {
    if (this.#flying === clientMessageId) this.#flying = null;
  }

  /** @returns {import("./outbox.js").Entry | undefined} a message that the server refused */
  refused(clientMessageId) {
    this.postponed(clientMessageId);
    const entry = this.outbox.remove(clientMessageId);
    if (entry) this.log.withdraw(clientMessageId);
    return entry;
  }

  /** Nothing can be sent here any more. @returns {import("./outbox.js").Entry[]} the messages that were not */
  takeBack() {
    return this.outbox.entries.map(({ client_message_id: id }) => id).map((id) => this.refused(id));
  }

  #show(entry) {
    this.log.pending(entry, this.#note(entry.client_message_id));
  }

  #say() {
    this.log.sayPending((id) => this.#note(id));
  }

  #note(id) {
    if (!this.connected) return gettext("Kept here. It is sent as soon as the server is back.");
    return id === this.#flying ? gettext("Sending…") : gettext("Kept here. It is sent after the reply before it.");
  }
}
