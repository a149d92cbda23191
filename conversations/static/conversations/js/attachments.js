/**
 * The files of the messages that are being written, by thread. A few are sent at a time; what the network keeps from it
 * goes on when it is back. Uploaded ones survive a reload.
 */

import { nameOf, refusalOf } from "./file-words.js";
import { gettext } from "./language.js";
import { newId } from "./outbox.js";
import { uploadFile } from "./uploading.js";

const AT_ONCE = 3;
const TRIES = 3; // without an answer, although there seems to be a connection
const AGAIN = 2000;

/**
 * @typedef {object} Attachment
 * @property {string} key of this page alone
 * @property {string} name
 * @property {number} size bytes
 * @property {"waiting" | "sending" | "away" | "refused" | "uploaded"} state `away`: the network is
 * @property {number} share that was sent, 0 to 1
 * @property {number} tries
 * @property {string} [problem] why it was refused
 * @property {boolean} [hopeless] whether it would be refused again
 * @property {File} [file] as long as this page is open
 * @property {string} [id] once it is uploaded
 * @property {import("./files.js").UploadedFile} [info]
 * @property {() => void} [cancel]
 *
 * @typedef {{thread: string, attachments: Attachment[]}} Draft
 */

export class Attachments {
  /** @type {Map<string, Draft>} */
  #drafts = new Map();
  /** @type {Draft} */
  #draft;
  #connected = true;

  /**
   * @param {Store} store
   * @param {import("./files.js").Files} files
   * @param {{file_mb: number, files: number}} limits
   * @param {typeof uploadFile} [upload]
   */
  constructor(store, files, limits, upload = uploadFile) {
    this.store = store;
    this.files = files;
    this.most = limits.files;
    this.largest = limits.file_mb * 2 ** 20;
    this.upload = upload;
    /** @type {(attachment?: Attachment) => void} told of each change of what is shown */
    this.onChange = () => {};
  }

  get shown() {
    return this.#draft.attachments;
  }

  /** Whether any is still to be sent to the server. */
  get uploading() {
    return this.shown.some(({ state }) => ["waiting", "sending", "away"].includes(state));
  }

  /** Whether an upload is under way that would be lost with the page, of any thread. */
  get anyUploading() {
    return ["waiting", "sending", "away"].some((state) => this.#all(state).length > 0);
  }

  /** The ids of those that are read. */
  get readIds() {
    return this.shown.filter(({ info }) => info?.status === "ready").map(({ id }) => id);
  }

  /** The first that no message can bring. */
  get failed() {
    return this.shown.find(hasFailed);
  }

  get withPictures() {
    return this.shown.some(({ info, file }) => (info ? info.kind === "image" : file?.type.startsWith("image/")));
  }

  /** Shows those of a thread. */
  open(thread) {
    this.#draft = this.#draftOfThread(thread);
    this.onChange();
  }

  /** The thread has got its id. */
  renamed(thread) {
    const draft = this.#draft;
    this.#drafts.delete(draft.thread);
    this.store.write(keyOf(draft.thread), []);
    draft.thread = thread;
    this.#drafts.set(thread, draft);
    this.#save(draft);
  }

  /**
   * @param {File[]} files
   * @param {Date | null} [pastedAt]
   * @returns {Attachment[]} those that were added: not more than a message may bring
   */
  add(files, pastedAt = null) {
    const draft = this.#draft;
    const added = files.slice(0, Math.max(0, this.most - draft.attachments.length)).map((file) => {
      const problem = refusalOf(file, this.largest);
      return attachmentOf({
        name: nameOf(file, pastedAt),
        size: file.size,
        file,
        ...(problem && { state: "refused", problem, hopeless: true }),
      });
    });
    draft.attachments.push(...added);
    this.onChange();
    this.#pump();
    return added;
  }

  /** Files of a message that did not go out. @param {string[]} ids @param {string} [thread] else the one shown */
  putBack(ids, thread = this.#draft.thread) {
    const draft = this.#draftOfThread(thread);
    const there = new Set(draft.attachments.map(({ id }) => id));
    for (const id of ids.filter((each) => !there.has(each))) {
      const { name = gettext("File"), bytes: size = 0 } = this.files.get(id) ?? {};
      this.#addUploaded(draft, { id, name, size });
    }
    this.#save(draft);
    this.onChange();
  }

  /** The message goes out. @returns {string[]} the ids of its files */
  take() {
    const ids = this.shown.map(({ id }) => id);
    this.#draft.attachments = [];
    this.#save(this.#draft);
    this.onChange();
    return ids;
  }

  /** @param {Attachment} attachment */
  remove(attachment) {
    const draft = this.#draft;
    const { id, info, cancel } = attachment;
    this.#drop(draft, attachment);
    cancel?.();
    // One that stays although it should go is in no message, and goes after a day.
    if (id && info?.status !== "gone") this.files.delete(id).catch(() => {});
    this.#pump();
  }

  /** Sends it anew. @param {Attachment} attachment */
  retry(attachment) {
    const { id, info } = attachment;
    if (id && info?.status !== "gone") this.files.delete(id).catch(() => {});
    Object.assign(attachment, { state: "waiting", share: 0, tries: 0, id: undefined, info: undefined, problem: "" });
    this.#save(this.#draft);
    this.onChange(attachment);
    this.#pump();
  }

  /** It is shown elsewhere from now on, and stays as it is. @param {Attachment} attachment */
  settle(attachment) {
    this.#drop(this.#draft, attachment);
  }

  setConnected(connected) {
    this.#connected = connected;
    if (connected) this.#goOn();
  }

  #goOn() {
    for (const attachment of this.#all("away")) attachment.state = "waiting";
    this.onChange();
    this.#pump();
  }

  #all(state) {
    return [...this.#drafts.values()].flatMap(({ attachments }) => attachments.filter((each) => each.state === state));
  }

  #pump() {
    const room = AT_ONCE - this.#all("sending").length;
    for (const attachment of this.#all("waiting").slice(0, Math.max(0, room))) this.#send(attachment);
  }

  /** @param {Attachment} attachment */
  async #send(attachment) {
    attachment.state = "sending";
    const { done, cancel } = this.upload(attachment.file, attachment.name, (share) => {
      attachment.share = share;
      this.onChange(attachment);
    });
    attachment.cancel = cancel;
    this.onChange(attachment);
    try {
      this.#uploaded(attachment, await done);
    } catch (error) {
      this.#notUploaded(attachment, error);
    }
    attachment.cancel = undefined;
    this.onChange(attachment);
    this.#pump();
  }

  #uploaded(attachment, file) {
    const draft = this.#draftOf(attachment);
    this.files.put(file);
    if (!draft) {
      this.files.delete(file.id).catch(() => {}); // it was removed as the last of it went out
      return;
    }
    Object.assign(attachment, { state: "uploaded", id: file.id, name: file.name });
    this.#watch(draft, attachment);
    this.#save(draft);
  }

  #notUploaded(attachment, error) {
    if (!("status" in error)) throw error;
    attachment.tries += 1;
    if (error.status || (this.#connected && attachment.tries >= TRIES)) {
      const hopeless = error.status === 400 || error.code === "file_too_large";
      Object.assign(attachment, { state: "refused", problem: error.message, hopeless });
      return;
    }
    attachment.state = "away";
    if (this.#connected) setTimeout(() => this.#connected && this.#goOn(), AGAIN);
  }

  /** @returns {Draft} with what an earlier visit left */
  #draftOfThread(thread) {
    if (!this.#drafts.has(thread)) {
      const draft = { thread, attachments: [] };
      this.#drafts.set(thread, draft);
      for (const { id, name, size } of this.store.read(keyOf(thread), [])) this.#addUploaded(draft, { id, name, size });
    }
    return this.#drafts.get(thread);
  }

  #addUploaded(draft, { id, name, size }) {
    const attachment = attachmentOf({ id, name, size, state: "uploaded" });
    draft.attachments.push(attachment);
    this.#watch(draft, attachment);
  }

  #watch(draft, attachment) {
    this.files.watch(attachment.id, (info) => {
      if (!draft.attachments.includes(attachment) || info.id !== attachment.id) return;
      Object.assign(attachment, { info, name: info.name || attachment.name, size: info.bytes || attachment.size });
      if (info.thread) this.#drop(draft, attachment); // sent from another tab
      else this.onChange(attachment);
    });
  }

  #drop(draft, attachment) {
    draft.attachments = draft.attachments.filter((each) => each !== attachment);
    this.#save(draft);
    this.onChange();
  }

  #draftOf(attachment) {
    return [...this.#drafts.values()].find(({ attachments }) => attachments.includes(attachment));
  }

  /** @param {Draft} draft */
  #save({ thread, attachments }) {
    const uploaded = attachments.filter(({ id }) => id);
    this.store.write(
      keyOf(thread),
      uploaded.map(({ id, name, size }) => ({ id, name, size })),
    );
  }
}

/** @param {Attachment} attachment */
export function hasFailed({ state, info }) {
  return state === "refused" || ["failed", "gone"].includes(info?.status);
}

function keyOf(thread) {
  return `files:${thread}`;
}

/** @param {Partial<Attachment>} facts @returns {Attachment} */
function attachmentOf(facts) {
  return { key: newId(), name: "", size: 0, state: "waiting", share: 0, tries: 0, ...facts };
}
