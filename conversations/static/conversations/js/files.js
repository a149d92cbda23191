/** What is known of uploaded files. Those that are being read are asked for again until they are done. */

import { api } from "./api.js";

const PAUSE = 1500;
const PAUSE_A_FILE = 500; // many are asked for more seldom
const AFTER_FAILURE = 5000;

/** @typedef {Row & {id: string, name: string, kind: string, bytes: number, status: string}} UploadedFile
 *   as `GET files/{id}/` gives it; its status may also be `gone` */

export class Files {
  /** @type {Map<string, UploadedFile>} */
  #known = new Map();
  /** @type {Map<string, Set<(file: UploadedFile) => void>>} */
  #listeners = new Map();
  #timer = 0;
  #asking = false;

  /** @param {(id: string) => Promise<UploadedFile>} [ask] */
  constructor(ask = (id) => api.get(`files/${id}/`)) {
    this.ask = ask;
  }

  /**
   * Tells what is known, now and at each change, until the file is read or gone.
   * @param {string} id
   * @param {(file: UploadedFile) => void} listener
   * @returns {() => void} stops it
   */
  watch(id, listener) {
    const file = this.#known.get(id);
    if (isOpen(file)) {
      if (!this.#listeners.has(id)) this.#listeners.set(id, new Set());
      this.#listeners.get(id).add(listener);
      this.#soon(file ? PAUSE : 0);
    }
    if (file) listener(file);
    return () => this.#forget(id, listener);
  }

  /** @param {UploadedFile} file */
  put(file) {
    this.#known.set(file.id, file);
    const listeners = this.#listeners.get(file.id) ?? [];
    if (!isOpen(file)) this.#listeners.delete(file.id);
    for (const listener of listeners) listener(file);
  }

  get(id) {
    return this.#known.get(id);
  }

  /** Deletes one that is in no message; another tab may have sent it meanwhile. */
  async delete(id) {
    const file = await this.ask(id);
    if (!file.thread) await api.delete(`files/${id}/`);
  }

  #forget(id, listener) {
    const listeners = this.#listeners.get(id);
    listeners?.delete(listener);
    if (listeners?.size === 0) this.#listeners.delete(id);
  }

  /** In so many milliseconds, at the latest. */
  #soon(pause) {
    if (this.#asking || (this.#timer && pause)) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#askAll(), pause);
  }

  async #askAll() {
    this.#timer = 0;
    this.#asking = true;
    const failed = await this.#askEach([...this.#listeners.keys()]);
    this.#asking = false;
    if (this.#listeners.size === 0 || failed?.signedOut) return;
    const unknown = [...this.#listeners.keys()].some((id) => !this.#known.has(id));
    if (failed) this.#soon(AFTER_FAILURE);
    else this.#soon(unknown ? 0 : Math.max(PAUSE, PAUSE_A_FILE * this.#listeners.size));
  }

  /** @returns {Promise<any>} the failure that ended it */
  async #askEach(ids) {
    for (const id of ids) {
      try {
        this.put(await this.ask(id));
      } catch (error) {
        if (error.status !== 404) return error;
        this.put({ id, name: "", kind: "", bytes: 0, ...this.#known.get(id), status: "gone" });
      }
    }
    return null;
  }
}

function isOpen(file) {
  return !file || file.status === "reading";
}
