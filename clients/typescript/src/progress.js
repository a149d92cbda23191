/** A reply as its events come, and how to go on after a cut. Nothing is sent here. */

import { ApiError, ReplyFailed } from "./errors.js";

/** @import { ErrorObject, MessageAnswer } from "./schema.js" */

/**
 * What `data` holds stands at `/api/v1/docs/websocket/`. `seq` is from 1, without a hole.
 * @typedef {object} ReplyEvent
 * @property {"message.saved" | "artifact.requested" | "context.built" | "reply.started" | "reply.thinking"
 *   | "reply.checking" | "reply.delta" | "tool.started" | "tool.delta" | "tool.finished" | "reply.completed"
 *   | "reply.stopped" | "reply.interrupted" | "reply.failed"} type
 * @property {string} reply
 * @property {number} seq
 * @property {string} at
 * @property {Record<string, any>} data
 */

const ENDINGS = new Set(["reply.completed", "reply.stopped", "reply.interrupted", "reply.failed"]);

/** What is known of a reply so far; ids are empty until they are known. */
export class Progress {
  thread = "";
  /** The newest model request: `GET requests/{request_id}/` is the book of it. */
  request = "";
  text = "";
  /** Empty while it is written; else `completed`, `stopped`, `interrupted` or `failed`. */
  status = "";
  /** @type {MessageAnswer | null} */
  message = null;
  /** @type {ErrorObject | null} */
  error = null;
  /** @type {string[]} ids of calls of tools that wait for an answer */
  questions = [];

  /**
   * @param {string} [reply]
   * @param {number} [seq]
   */
  constructor(reply = "", seq = 0) {
    this.reply = reply;
    this.seq = seq;
  }

  get hasEnded() {
    return this.status !== "";
  }

  /**
   * The event as its reader is to have it; null for one that came before.
   * @param {ReplyEvent} event
   * @returns {ReplyEvent | null}
   */
  take(event) {
    if (event.type === "reply.delta" && event.data.whole) event = { ...event, data: this.#rest(event.data) };
    else if (event.seq <= this.seq) return null;
    this.seq = event.seq;
    this.reply = event.reply;
    this.#note(event.type, event.data);
    return event;
  }

  /** @param {Record<string, any>} data of the whole text */
  #rest(data) {
    return data.text.startsWith(this.text) ? { ...data, text: data.text.slice(this.text.length) } : data;
  }

  /**
   * @param {string} type
   * @param {Record<string, any>} data
   */
  #note(type, data) {
    this.thread = data.thread || this.thread;
    this.request = data.request || this.request;
    if (type === "reply.delta") this.text += data.text;
    if (type === "tool.finished" && data.question) this.questions.push(data.question);
    if (!ENDINGS.has(type)) return;
    this.status = type.slice("reply.".length);
    this.message = data.message;
    this.error = data.error ?? null;
  }

  /** Throws `ReplyFailed` where the reply failed or was interrupted. */
  check() {
    if (this.error) throw new ReplyFailed(this.error, this);
  }
}

/**
 * The events of a stream, as the bytes come. Throws `ApiError` where the server ends it early, and says why.
 * @param {ReadableStream<Uint8Array>} body
 * @returns {AsyncGenerator<ReplyEvent>}
 */
export async function* events(body) {
  const reader = body.pipeThrough(/** @type {any} */ (new TextDecoderStream())).getReader();
  let buffer = "";
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      const whole = (buffer + piece.value).split("\n\n");
      buffer = whole.pop() ?? "";
      for (const frame of whole) {
        const data = /^data: ?(.*)$/m.exec(frame); // a line that begins with a colon keeps the connection open
        if (data) yield readEvent(JSON.parse(data[1] ?? ""));
      }
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

/** @param {any} value @returns {ReplyEvent} */
function readEvent(value) {
  if (!value.type && value.error) throw new ApiError(403, value.error);
  return value;
}
