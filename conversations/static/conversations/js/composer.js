/**
 * The message box: grows with its text, keeps a draft for each thread, sends or stops. What was typed is never lost.
 */

import { byId, icon } from "./dom.js";
import { number } from "./words.js";

export class Composer {
  /**
   * @param {Store} store
   * @param {number} limit characters
   * @param {{onSend: (text: string) => void, onStop: () => void}} on
   */
  constructor(store, limit, on) {
    this.store = store;
    this.limit = limit;
    this.on = on;
    this.running = false;
    this.threadId = "new";
    this.text = byId("text");
    this.button = byId("send");
    this.notice = byId("composer-notice");
    this.counter = byId("counter");
    /** Typed before this script had loaded. */
    this.early = this.text.value;
    this.text.addEventListener("input", () => this.#changed());
    this.text.addEventListener("keydown", (event) => this.#key(event));
    byId("composer").addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.running) this.stop();
      else this.#send();
    });
  }

  /** Shows the draft of that thread. */
  open(threadId) {
    this.threadId = threadId;
    this.text.value = this.early || this.store.read(`draft:${threadId}`, "");
    this.early = "";
    this.#changed();
  }

  /** The thread has got its id; what was typed meanwhile goes with it. */
  renamed(threadId) {
    this.store.write(`draft:${this.threadId}`, "");
    this.threadId = threadId;
    this.#changed();
  }

  /** Text that comes back from a refused message, or from an example. */
  put(text) {
    this.text.value = [text, this.text.value].filter(Boolean).join("\n\n");
    this.#changed();
    this.focus();
  }

  focus() {
    this.text.focus();
    this.text.setSelectionRange(this.text.value.length, this.text.value.length);
  }

  say(words) {
    this.notice.textContent = words;
    this.notice.hidden = !words;
  }

  setRunning(running) {
    if (running === this.running && !this.stopping) return;
    this.running = running;
    this.stopping = false;
    this.#button(running ? "Stop" : "Send", running ? "stop" : "up");
    this.#fit();
  }

  stop() {
    if (!this.running || this.stopping) return;
    this.stopping = true;
    this.#button("Stopping", "stop");
    this.on.onStop();
  }

  #button(words, symbol) {
    byId("send-words").textContent = words;
    this.button.querySelector(".icon").replaceWith(icon(symbol));
    this.button.classList.toggle("stop", words !== "Send");
  }

  #send() {
    const content = this.text.value;
    if (!content.trim()) return this.focus();
    if (content.length > this.limit) return this.focus();
    this.say("");
    this.text.value = "";
    this.#changed();
    return this.on.onSend(content);
  }

  #key(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    if (this.running) this.say("A reply is still being written. Press Esc to stop it, or send when it has ended.");
    else this.#send();
  }

  #changed() {
    this.store.write(`draft:${this.threadId}`, this.text.value);
    this.say("");
    this.#fit();
  }

  #fit() {
    const { length } = this.text.value;
    const over = length - this.limit;
    this.text.style.blockSize = "auto";
    this.text.style.blockSize = `${this.text.scrollHeight}px`;
    this.counter.hidden = length < this.limit * 0.9;
    this.counter.textContent = over > 0 ? `${number(over)} characters too long` : `${number(-over)} characters left`;
    this.counter.classList.toggle("over", over > 0);
    this.button.disabled = !this.running && (!this.text.value.trim() || over > 0);
  }
}
