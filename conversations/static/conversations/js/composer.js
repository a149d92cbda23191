/**
 * The message box: grows with its text, takes files, keeps a draft for each thread, sends or stops. What was typed is
 * never lost.
 */

import { Chips } from "./chips.js";
import { byId, icon } from "./dom.js";
import { wireDropping } from "./dropping.js";
import { gettext, ngettext } from "./language.js";
import { number } from "./words.js";

const SURELY_TALL = 10_000; // characters: higher than the box may be, so that nobody has to measure them

export class Composer {
  /**
   * @param {Store} store
   * @param {number} limit characters
   * @param {{attachments: import("./attachments.js").Attachments, announcer: import("./announce.js").Announcer}} parts
   * @param {{onSend: (text: string, files: string[]) => void, onStop: () => void, onEditLast: () => boolean}} on
   */
  constructor(store, limit, { attachments, announcer }, on) {
    this.store = store;
    this.limit = limit;
    this.on = on;
    this.running = false;
    this.waiting = false; // with the message, for its files
    this.blind = "";
    this.attachments = attachments;
    this.chips = new Chips(attachments, announcer, () => this.focus());
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
      if (this.running || this.waiting) this.stop();
      else this.#send();
    });
    const input = byId("file-input");
    byId("attach").addEventListener("click", () => input.click());
    input.addEventListener("change", () => {
      this.#attach([...input.files]);
      input.value = "";
    });
    wireDropping(
      (files, pastedAt) => this.#attach(files, pastedAt),
      (words) => this.say(words),
      !byId("attach").hidden,
    );
    attachments.onChange = (attachment) => this.#filesChanged(attachment);
  }

  /** Shows the draft of that thread. */
  open(threadId) {
    this.threadId = threadId;
    this.waiting = false;
    this.text.value = this.early || this.store.read(`draft:${threadId}`, "");
    this.early = "";
    this.attachments.open(threadId);
    this.#changed();
  }

  /** The thread has got its id; what was typed meanwhile goes with it. */
  renamed(threadId) {
    this.store.write(`draft:${this.threadId}`, "");
    this.threadId = threadId;
    this.attachments.renamed(threadId);
    this.#changed();
  }

  /** What comes back from a refused message, or text from an example. @param {string[]} [files] their ids */
  put(text, files = []) {
    this.text.value = [text, this.text.value].filter(Boolean).join("\n\n");
    if (files.length) this.attachments.putBack(files);
    this.#changed();
    this.focus();
  }

  /** A prompt that was chosen. @param {string} text */
  replace(text) {
    this.text.value = text;
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
    this.#showButton();
    this.#fit();
  }

  /** Stops the reply, or the wait for files. */
  stop() {
    if (this.waiting) this.#wait(false);
    if (!this.running || this.stopping) return;
    this.stopping = true;
    this.#button(gettext("Stopping"), "stop");
    this.on.onStop();
  }

  /** @param {string} model the name of the one that answers, if it can't see pictures */
  setBlind(model) {
    this.blind = model;
    this.#showNote();
  }

  #showButton() {
    if (this.running) this.#button(gettext("Stop"), "stop");
    else if (this.waiting) this.#button(gettext("Uploading…"), "stop");
    else this.#button(gettext("Send"), "up");
  }

  #button(words, symbol) {
    byId("send-words").textContent = words;
    this.button.querySelector(".icon").replaceWith(icon(symbol));
    this.button.classList.toggle("stop", symbol === "stop");
  }

  #send() {
    const content = this.text.value;
    const { shown, failed, uploading } = this.attachments;
    if (!content.trim() && !shown.length) return this.focus();
    if (content.length > this.limit) return this.focus();
    if (failed) {
      this.chips.focus(failed);
      return this.say(gettext("“{name}” can't be sent. Remove it, then send your message.", { name: failed.name }));
    }
    if (uploading) return this.#wait(true);
    this.say("");
    this.text.value = "";
    const files = this.attachments.take();
    this.#changed();
    return this.on.onSend(content, files);
  }

  #wait(waiting) {
    this.waiting = waiting;
    this.#showButton();
    this.#showNote();
  }

  #attach(files, pastedAt = null) {
    const added = this.attachments.add(files, pastedAt);
    this.chips.added(added);
    const over = files.length - added.length;
    const { most } = this.attachments;
    if (over)
      this.say(
        [
          ngettext("A message may bring {count} file.", "A message may bring {count} files.", most),
          ngettext("{count} file was not added.", "{count} files were not added.", over),
        ].join(" "),
      );
    else this.say("");
    if (!matchMedia("(pointer: coarse)").matches) this.text.focus();
  }

  #filesChanged(attachment) {
    if (attachment) this.chips.update(attachment);
    else this.chips.show();
    this.#showNote();
    this.#fit();
    if (!this.waiting || this.attachments.uploading) return;
    this.#wait(false);
    this.#send();
  }

  /** Below the chips: what becomes of the message, or of the pictures in it. */
  #showNote() {
    const note = byId("files-note");
    const words = this.waiting
      ? gettext("Your message goes out as soon as its files are uploaded.")
      : this.blind && this.attachments.withPictures
        ? gettext("{blind} can't see pictures: it is only told that they are there.", { blind: this.blind })
        : "";
    if (note.textContent !== words) note.textContent = words;
    note.hidden = !words;
  }

  #key(event) {
    if (event.key === "ArrowUp" && !this.text.value && !this.running && this.on.onEditLast()) event.preventDefault();
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    if (this.running) this.say(
      gettext("A reply is still being written. Press Esc to stop it, or send when it has ended."),
    );
    else if (!this.waiting) this.#send();
  }

  #changed() {
    this.store.write(`draft:${this.threadId}`, this.text.value);
    this.say("");
    this.#fit();
  }

  #fit() {
    const { length } = this.text.value;
    const over = length - this.limit;
    this.text.style.blockSize = length > SURELY_TALL ? "100vh" : "auto";
    if (length <= SURELY_TALL) this.text.style.blockSize = `${this.text.scrollHeight}px`;
    this.counter.hidden = length < this.limit * 0.9;
    this.counter.textContent = over > 0
      ? gettext("{over} characters too long", { over: number(over) })
      : gettext("{number} characters left", { number: number(-over) });
    this.counter.classList.toggle("over", over > 0);
    const empty = !this.text.value.trim() && !this.attachments.shown.length;
    this.button.disabled = !this.running && (empty || over > 0);
  }
}
