/** One thread's WebSocket: reconnects with backoff and jitter until access is lost or it is closed. */

import { api } from "./api.js";

/** Close codes after which trying again can't help. */
const FINAL = new Map([
  [4401, "signed_out"],
  [4403, "forbidden"],
  [4404, "gone"],
]);
const FIRST_DELAY = 400;
const LONGEST_DELAY = 15_000;
/** A reply that says nothing for so long may be a dead connection: reconnecting costs little and resumes. */
const SILENCE = 45_000;
const ACKNOWLEDGE = 10_000;
/** A connection that lasted so long counts as good: the next loss starts with a short wait again. */
const STEADY = 3000;

export class ThreadSocket {
  #socket = null;
  #attempt = 0;
  #timer = 0;
  #watchdog = 0;
  #steady = 0;
  #closed = false;

  /**
   * @param {string} threadId or "new"
   * @param {{onFrame: (frame: Row) => void, onOpen: () => void, onState: (state: string) => void}} listeners
   *   states: connecting, open, waiting, signed_out, notice, forbidden, gone
   */
  constructor(threadId, listeners) {
    this.threadId = threadId;
    this.listeners = listeners;
    this.online = () => this.reconnect();
    this.offline = () => this.drop();
    addEventListener("online", this.online);
    addEventListener("offline", this.offline);
    this.#connect();
  }

  get open() {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  /** @returns {boolean} whether it went out */
  send(frame) {
    if (!this.open) return false;
    this.#socket.send(JSON.stringify(frame));
    if (frame.type === "message.send") this.expect(ACKNOWLEDGE);
    return true;
  }

  /** Reconnect when nothing arrives within this time. Any frame ends the wait. */
  expect(milliseconds = SILENCE) {
    clearTimeout(this.#watchdog);
    this.#watchdog = setTimeout(() => this.drop(), milliseconds);
  }

  relax() {
    clearTimeout(this.#watchdog);
  }

  /** At once, whatever the backoff says. */
  reconnect() {
    if (this.#closed || this.open) return;
    this.#attempt = 0;
    this.#connect();
  }

  close() {
    this.#closed = true;
    removeEventListener("online", this.online);
    removeEventListener("offline", this.offline);
    clearTimeout(this.#timer);
    clearTimeout(this.#steady);
    this.relax();
    this.#detach();
  }

  #connect() {
    clearTimeout(this.#timer);
    this.#detach();
    this.listeners.onState("connecting");
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(`${scheme}//${location.host}/ws/threads/${this.threadId}/`);
    let opened = false;
    socket.onopen = () => {
      opened = true;
      // Not at once: a server without its database accepts and then closes, again and again.
      this.#steady = setTimeout(() => (this.#attempt = 0), STEADY);
      this.listeners.onState("open");
      this.listeners.onOpen();
    };
    let needsNotice = false;
    socket.onmessage = (event) => {
      this.relax();
      const frame = JSON.parse(event.data);
      needsNotice ||= frame.type === "error" && frame.data.code === "notice_not_accepted";
      this.listeners.onFrame(frame);
    };
    socket.onclose = (event) => this.#lost(event.code, opened, needsNotice);
    this.#socket = socket;
  }

  drop() {
    if (this.#closed || !this.#socket) return;
    this.#detach();
    this.#lost(1006, true, false);
  }

  #detach() {
    if (!this.#socket) return;
    const socket = this.#socket;
    this.#socket = null;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
  }

  async #lost(code, opened, needsNotice) {
    this.relax();
    clearTimeout(this.#steady);
    this.#socket = null;
    const reason = needsNotice ? "notice" : FINAL.get(code) ?? (opened ? undefined : await refusal(this.threadId));
    if (this.#closed) return;
    if (reason) {
      this.close();
      this.listeners.onState(reason);
      return;
    }
    const longest = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** this.#attempt);
    this.#attempt += 1;
    this.listeners.onState("waiting");
    this.#timer = setTimeout(() => this.#connect(), longest / 2 + (Math.random() * longest) / 2);
  }
}

/** Browsers hide why a handshake was refused; the API tells. */
async function refusal(threadId) {
  try {
    await api.get(threadId === "new" ? "threads/?page_size=1" : `threads/${threadId}/`);
  } catch (error) {
    if (error.signedOut) return "signed_out";
    if (error.needsNotice) return "notice";
    if (error.status === 404) return "gone";
  }
  return undefined;
}
