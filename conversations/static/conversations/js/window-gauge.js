/** How full the window of the open conversation is: of its newest request, or of the next message. */

import { api } from "./api.js";
import { givenToReplies } from "./given.js";

const MOST_FILES = 10; // of which is said what replies were given of them

export class WindowGauge {
  /**
   * @param {{
   *   book: import("./book.js").Book,
   *   log: import("./log.js").Log,
   *   composer: import("./composer.js").Composer,
   *   attachments: import("./attachments.js").Attachments,
   * }} page
   * @param {{reader: () => import("./thread.js").OpenThread, onError: (error: Error) => void}} on
   */
  constructor({ book, log, composer, attachments }, { reader, onError }) {
    this.book = book;
    this.log = log;
    this.composer = composer;
    this.attachments = attachments;
    this.reader = reader;
    this.onError = onError;
  }

  /** The gauge and the book of the next message, for the model that is chosen now. */
  async preview() {
    const { book, attachments } = this;
    const reader = this.reader();
    const { newest } = book;
    if (!newest || reader.running) return;
    const { temporary } = reader.thread;
    const message = { content: this.composer.text.value.trim() || "…", files: attachments.readIds, temporary };
    const snapshot = await api.post(`threads/${reader.thread.id}/context/`, message).catch(this.onError);
    if (snapshot && reader === this.reader() && book.newest === newest && !reader.running) book.preview(snapshot);
  }

  /** The gauge and the quiet line where the window begins. @param {string | null} request the newest recorded one */
  async read(request) {
    if (!request) return;
    const { book, log } = this;
    const reader = this.reader();
    const { newest } = book;
    const snapshot = await book.read(request).catch(this.onError);
    if (!snapshot || reader !== this.reader() || book.newest !== newest) return; // another request was made meanwhile
    book.gauge(request, snapshot);
    log.turnOf(request)?.setFacts(snapshot);
    log.markWindow(snapshot.window_begins);
    this.#readGiven(snapshot.files, reader);
  }

  /** What the replies were given of the thread's files. Threads without files ask for nothing. @param {Row[]} named */
  async #readGiven(named, reader) {
    if (!named.length) return;
    const known = named.filter(({ name }) => name).slice(-MOST_FILES);
    const given = await givenToReplies(known).catch(this.onError);
    if (given && reader === this.reader()) this.log.setGiven(given);
  }
}
