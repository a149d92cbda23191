/** The client. */

import { ApiError, Attempts, ConnectionFailed, apiError } from "./errors.js";
import { Progress, events } from "./progress.js";

/** @import { Calls, FileAnswer, FoundAnswer, ForgettingAnswer, MemoryAnswer } from "./schema.js" */
/** @import { ReplyEvent } from "./progress.js" */

/**
 * What a call is given, as far as it takes something.
 * @template {keyof Calls} K
 * @typedef {{ signal?: AbortSignal }
 *   & (object extends Calls[K]["path"] ? { path?: undefined } : { path: Calls[K]["path"] })
 *   & { query?: Calls[K]["query"] }
 *   & (Calls[K]["body"] extends undefined ? { body?: undefined } : { body: Calls[K]["body"] })} Given
 */

/**
 * @template {keyof Calls} K
 * @typedef {Calls[K]["answer"] extends { results: Array<infer T>, next: string | null } ? T : never} ItemOf
 */

/** @typedef {{ [K in keyof Calls]: ItemOf<K> extends never ? never : K }[keyof Calls]} Lists */

/** @typedef {string | Array<Record<string, unknown>>} Content */

/**
 * What goes with a message. Without a thread a new one is opened, for which alone `assistant`, `thread_model`,
 * `project` and `temporary` are.
 * @typedef {object} MessageOptions
 * @property {string} [thread]
 * @property {string} [assistant]
 * @property {string} [model]
 * @property {string} [thread_model]
 * @property {string} [project]
 * @property {string[]} [files]
 * @property {string} [edits]
 * @property {boolean} [temporary]
 * @property {string} [client_message_id]
 * @property {AbortSignal} [signal]
 */

/** @typedef {{ method: string, path: string, query?: object, body?: any, signal?: AbortSignal | undefined }} Sent */

/** The events of a reply, one after the other, across cuts; `text` and the ids are as far as it was read. */
export class ReplyStream extends Progress {
  /** @type {AsyncGenerator<ReplyEvent>} */
  #events;

  /**
   * @param {(progress: Progress) => AsyncGenerator<ReplyEvent>} follow
   * @param {string} [reply]
   * @param {number} [seq]
   */
  constructor(follow, reply, seq) {
    super(reply, seq);
    this.#events = follow(this);
  }

  [Symbol.asyncIterator]() {
    return this.#events;
  }

  /** The pieces of the answer. Throws `ReplyFailed` at its end. */
  async *texts() {
    for await (const { type, data } of this) if (type === "reply.delta") yield String(data.text);
    this.check();
  }

  /** Reads it to its end. Throws `ReplyFailed`. */
  async wait() {
    for await (const event of this) void event;
    this.check();
    return this;
  }
}

export class Openbook {
  #url;
  #token;
  #retries;
  #fetch;

  /**
   * An installation at `url`, as the person whose `token` it is.
   * @param {string} url
   * @param {string} token
   * @param {{ retries?: number, fetch?: typeof globalThis.fetch }} [options]
   */
  constructor(url, token, { retries = 5, fetch = (...given) => globalThis.fetch(...given) } = {}) {
    this.#url = `${url.replace(/\/+$/, "")}/api/v1/`;
    this.#token = token;
    this.#retries = retries;
    this.#fetch = fetch;
  }

  /**
   * Any call of the API: `call("GET threads/{thread_id}/", { path: { thread_id } })`.
   * @template {keyof Calls} K
   * @param {K} name
   * @param {{} extends Given<K> ? [Given<K>?] : [Given<K>]} given
   * @returns {Promise<Calls[K]["answer"]>}
   */
  async call(name, ...given) {
    const sent = sending(name, given[0] ?? {});
    const response = await this.#send(sent);
    if (response.status === 204) return /** @type {any} */ (undefined);
    const isJson = response.headers.get("Content-Type")?.includes("json");
    return /** @type {any} */ (isJson ? response.json() : response.blob());
  }

  /**
   * What a list holds, page by page as it is read.
   * @template {Lists} K
   * @param {K} name
   * @param {{} extends Given<K> ? [Given<K>?] : [Given<K>]} given
   * @returns {AsyncGenerator<ItemOf<K>>}
   */
  async *all(name, ...given) {
    const sent = sending(name, given[0] ?? {});
    for (;;) {
      const page = /** @type {any} */ (await (await this.#send(sent)).json());
      yield* page.results;
      if (!page.next) return;
      sent.query = Object.fromEntries(new URL(page.next).searchParams);
    }
  }

  /**
   * Sends a message and gives its reply as it is written.
   * @param {Content} content
   * @param {MessageOptions} [options]
   */
  stream(content, { thread = "new", signal, ...options } = {}) {
    const body = { content, client_message_id: crypto.randomUUID(), ...options };
    const path = `threads/${part(thread)}/messages/stream/`;
    return new ReplyStream((progress) => this.#follow(progress, { method: "POST", path, body, signal }));
  }

  /**
   * The events of a reply behind the `seq` that you have, also after its end.
   * @param {string} reply
   * @param {number} [after]
   * @param {{ signal?: AbortSignal }} [options]
   */
  resume(reply, after = 0, { signal } = {}) {
    const sent = { ...following(reply, after), signal };
    return new ReplyStream((progress) => this.#follow(progress, sent), reply, after);
  }

  /**
   * Sends a message and waits for the answer, which is `text`. Throws `ReplyFailed`.
   * @param {Content} content
   * @param {MessageOptions} [options]
   */
  ask(content, options) {
    return this.stream(content, options).wait();
  }

  /** What would be recalled for these words, best first. @param {string} q @returns {Promise<FoundAnswer[]>} */
  async search(q) {
    return (await this.call("GET memories/search/", { query: { q } })).results;
  }

  /** @param {string} content @param {string[]} [tags] @returns {Promise<MemoryAnswer>} */
  remember(content, tags = []) {
    return this.call("POST memories/", { body: { content, tags } });
  }

  /** A note, and what repeats it, for good. @param {string} memory_id @returns {Promise<ForgettingAnswer>} */
  forget(memory_id) {
    return this.call("POST memories/{memory_id}/forget/", { path: { memory_id } });
  }

  /**
   * A file; its `id` goes into `files` of a message. Not tried again by itself.
   * @param {Blob} file
   * @param {string} name
   * @returns {Promise<FileAnswer>}
   */
  async upload(file, name) {
    const body = new FormData();
    body.append("file", file, name);
    return (await this.#fetched({ method: "POST", path: "files/", body })).json();
  }

  /** @param {Sent} sent */
  async #send(sent) {
    const attempts = new Attempts(this.#retries, sent.signal);
    for (;;) {
      try {
        return await this.#fetched(sent);
      } catch (failure) {
        await attempts.fail(failure, isRepeatable(sent));
      }
    }
  }

  /**
   * @param {Progress} progress
   * @param {Sent} first
   * @returns {AsyncGenerator<ReplyEvent>}
   */
  async *#follow(progress, first) {
    const attempts = new Attempts(this.#retries, first.signal);
    while (!progress.hasEnded) {
      // A message that nobody confirmed is sent again, with its id; of one that was, what is to come is asked for.
      const { reply, seq } = progress;
      const sent = reply ? { ...following(reply, seq), signal: first.signal } : first;
      try {
        for await (const event of this.#events(sent)) {
          const taken = progress.take(event);
          if (!taken) continue;
          attempts.succeed();
          yield taken;
        }
        if (!progress.hasEnded) throw new ConnectionFailed("The stream broke off.");
      } catch (failure) {
        if (progress.hasEnded) return;
        await attempts.fail(failure, isRepeatable(sent));
      }
    }
  }

  /** @param {Sent} sent @returns {AsyncGenerator<ReplyEvent>} */
  async *#events(sent) {
    const { body } = await this.#fetched(sent);
    if (!body) return;
    const coming = events(body);
    try {
      for (;;) {
        const event = await coming.next().catch((error) => {
          throw error instanceof ApiError || sent.signal?.aborted ? error : new ConnectionFailed(String(error));
        });
        if (event.done) return;
        yield event.value;
      }
    } finally {
      await coming.return(undefined);
    }
  }

  /** @param {Sent} sent @returns {Promise<Response>} */
  async #fetched({ method, path, query = {}, body, signal }) {
    const url = new URL(path, this.#url);
    for (const [name, value] of Object.entries(query)) if (value != null) url.searchParams.set(name, String(value));
    const isForm = body instanceof FormData;
    const headers = {
      ...(this.#token ? { Authorization: `Token ${this.#token}` } : {}),
      ...(body && !isForm ? { "Content-Type": "application/json" } : {}),
    };
    let response;
    try {
      const told = body ? { body: isForm ? body : JSON.stringify(body) } : {};
      response = await this.#fetch(url, { method, headers, credentials: "omit", signal: signal ?? null, ...told });
    } catch (error) {
      throw signal?.aborted ? error : new ConnectionFailed(String(error));
    }
    if (response.ok) return response;
    const told = await response.json().catch(() => null);
    throw apiError(response.status, told, response.headers.get("Retry-After"));
  }
}

/** @param {Sent} sent */
function isRepeatable({ method, body }) {
  return method === "GET" || Boolean(body?.client_message_id);
}

/** @param {string} reply @param {number} after @returns {Sent} */
function following(reply, after) {
  return { method: "GET", path: `replies/${part(reply)}/events/`, query: { after } };
}

/**
 * @param {string} name
 * @param {{ path?: any, query?: any, body?: any, signal?: AbortSignal }} given
 * @returns {Sent}
 */
function sending(name, { path, query, body, signal }) {
  const [method = "", template = ""] = name.split(" ");
  return { method, path: template.replace(/{(\w+)}/g, (_, each) => part(path[each])), query, body, signal };
}

/** An id as a part of an address. @param {string | number} value */
function part(value) {
  if (["", ".", "..", "undefined"].includes(String(value))) throw new TypeError(`${value} is no id.`);
  return encodeURIComponent(value);
}
