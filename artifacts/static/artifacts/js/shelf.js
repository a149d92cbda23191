/** The artifacts of one thread as the server has them, and what can be done with them. */

import { api } from "../../conversations/js/api.js";

export class Shelf {
  #artifacts = new Map(); // id → artifact, the deleted ones too
  #contents = new Map(); // "id number" → version with content; versions never change

  /** @param {() => void} onChange */
  constructor(onChange) {
    this.onChange = onChange;
    this.threadId = null;
  }

  /** Newest first. */
  get present() {
    return this.#sorted((artifact) => !artifact.deleted_at);
  }

  get deleted() {
    return this.#sorted((artifact) => artifact.deleted_at);
  }

  find(id) {
    return this.#artifacts.get(id);
  }

  /** Another thread is open; `null` for one that does not exist yet. */
  open(threadId) {
    this.threadId = threadId;
    this.#artifacts.clear();
    this.#contents.clear();
    this.onChange();
  }

  async load() {
    const { threadId } = this;
    if (!threadId) return;
    const path = `threads/${threadId}/artifacts/?content=false&page_size=200`;
    const [present, deleted] = await Promise.all([all(path), all(`${path}&deleted=true`)]);
    if (threadId !== this.threadId) return;
    this.#artifacts = new Map([...present, ...deleted].map((artifact) => [artifact.id, artifact]));
    this.onChange();
  }

  /** One artifact anew, after something has changed it. */
  async refresh(id) {
    return this.#put(await api.get(`artifacts/${id}/`));
  }

  async version(id, number) {
    const key = `${id} ${number}`;
    const known = this.#contents.get(key) ?? (await api.get(`artifacts/${id}/versions/${number}/`));
    this.#contents.set(key, known);
    return known;
  }

  /** Newest first, without contents. */
  versions(id) {
    return all(`artifacts/${id}/versions/?content=false&page_size=200`);
  }

  /** A version by hand, based on that one. Raises ApiError `version_conflict` where there is a newer one. */
  async write(id, content, version) {
    return this.#put(await api.patch(`artifacts/${id}/`, { content, version }));
  }

  async rename(id, title) {
    return this.#put(await api.patch(`artifacts/${id}/`, { title }));
  }

  async remove(id) {
    await api.delete(`artifacts/${id}/`);
    this.#put({ ...this.find(id), deleted_at: new Date().toISOString() });
  }

  async restore(id) {
    return this.#put({ ...this.find(id), ...(await api.post(`artifacts/${id}/restore/`)), deleted_at: null });
  }

  #put(artifact) {
    const { content, ...rest } = artifact;
    if (artifact.thread !== this.threadId) return rest; // the reader has gone elsewhere meanwhile
    this.#artifacts.set(rest.id, rest);
    this.onChange();
    return rest;
  }

  #sorted(wanted) {
    return [...this.#artifacts.values()]
      .filter(wanted)
      .sort((one, other) => other.updated_at.localeCompare(one.updated_at));
  }
}

async function all(path) {
  const found = [];
  for (let next = path; next;) {
    const page = await api.get(next);
    found.push(...page.results);
    ({ next } = page);
  }
  return found;
}
