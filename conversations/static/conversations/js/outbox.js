/** Messages that were sent but not yet confirmed, per thread, oldest first. They survive a reload. */

/** crypto.randomUUID needs a secure context; a plain-http host has none. */
export function newId() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** @typedef {{client_message_id: string, content: string, files?: string[], assistant?: string, thread_model?: string,
 *   edits?: string}} Entry */

export class Outbox {
  constructor(store, threadId) {
    this.store = store;
    this.move(threadId);
    /** @type {Entry[]} */
    this.entries = store.read(this.key, []);
  }

  /** A new thread has got its id. */
  move(threadId) {
    if (this.key) this.store.write(this.key, []);
    this.key = `outbox:${threadId}`;
    if (this.entries) this.#save();
  }

  /**
   * @param {string} content
   * @param {string[]} [files] their ids
   * @param {{assistant?: string, thread_model?: string, edits?: string, temporary?: boolean}} [more] those that are
   *   empty are left out
   * @returns {Entry}
   */
  add(content, files = [], more = {}) {
    const named = Object.fromEntries(Object.entries(more).filter(([, value]) => value));
    const entry = { client_message_id: newId(), content, ...(files.length && { files }), ...named };
    this.entries.push(entry);
    this.#save();
    return entry;
  }

  /** @returns {Entry | undefined} the entry that left */
  remove(clientMessageId) {
    const index = this.entries.findIndex((entry) => entry.client_message_id === clientMessageId);
    if (index < 0) return undefined;
    const [entry] = this.entries.splice(index, 1);
    this.#save();
    return entry;
  }

  get head() {
    return this.entries[0];
  }

  #save() {
    this.store.write(this.key, this.entries);
  }
}
