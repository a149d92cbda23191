/** What can go wrong, and when it is tried again. */

/** @import { ErrorObject } from "./schema.js" */

const FIRST_PAUSE_MS = 300;
const LONGEST_PAUSE_MS = 30_000;
/** Codes of calls that were not begun, so that any can be made again. */
const BUSY = new Set(["rate_limited", "no_place", "long_work_running"]);
/** Statuses after which the same call may succeed. */
const PASSING = new Set([500, 502, 503, 504]);

/** Whatever this package throws about a server. */
export class OpenbookError extends Error {
  name = "OpenbookError";
}

/** The server could not be reached, or broke off. */
export class ConnectionFailed extends OpenbookError {
  name = "ConnectionFailed";
}

/**
 * The server refused, and says why: `code` is for programs, `message` for people, `details` is what belongs to the
 * code; `retryAfter` is in seconds, null where the server does not say.
 */
export class ApiError extends OpenbookError {
  name = "ApiError";

  /**
   * @param {number} status
   * @param {Partial<ErrorObject>} error
   * @param {number | null} [retryAfter]
   */
  constructor(status, error, retryAfter = null) {
    super(error.message || `The server answered ${status}.`);
    this.status = status;
    this.type = error.type ?? "";
    this.code = error.code ?? "";
    /** @type {Record<string, any>} */
    this.details = error.details ?? {};
    this.requestId = error.request_id ?? null;
    this.retryAfter = retryAfter;
  }
}

/** The message is stored, and its reply ended without an answer. `reply` and `thread` are ids. */
export class ReplyFailed extends ApiError {
  name = "ReplyFailed";

  /**
   * @param {Partial<ErrorObject>} error
   * @param {{ thread: string, reply: string }} ids
   */
  constructor(error, { thread, reply }) {
    super(502, error);
    this.thread = thread;
    this.reply = reply;
    this.retryable = Boolean(this.details.retryable);
  }
}

/**
 * @param {number} status
 * @param {any} body its JSON, or whatever something between here and the server wrote
 * @param {string | null} retryAfter
 */
export function apiError(status, body, retryAfter) {
  const error = body?.error ?? {};
  const { reply, thread = "" } = error.details ?? {};
  if (status === 502 && reply) return new ReplyFailed(error, { thread, reply });
  return new ApiError(status, error, retryAfter && /^\d+$/.test(retryAfter) ? Number(retryAfter) : null);
}

/**
 * Milliseconds to wait before a call is made again; null: it can't be, or would fail again.
 * @param {unknown} failure
 * @param {number} failures so many, one after the other
 * @param {boolean} isRepeatable whether it has the same effect twice as once
 */
function pause(failure, failures, isRepeatable) {
  const wait = Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS) * (0.75 + Math.random() / 2);
  if (failure instanceof ConnectionFailed) return isRepeatable ? wait : null;
  if (failure instanceof ReplyFailed || !(failure instanceof ApiError)) return null;
  const asked = (failure.retryAfter ?? 0) * 1000;
  if (asked > LONGEST_PAUSE_MS) return null;
  return BUSY.has(failure.code) || (PASSING.has(failure.status) && isRepeatable) ? Math.max(wait, asked) : null;
}

/** How often a call has failed since there was progress. */
export class Attempts {
  failures = 0;

  /**
   * @param {number} retries
   * @param {AbortSignal | undefined} signal
   */
  constructor(retries, signal) {
    this.retries = retries;
    this.signal = signal;
  }

  succeed() {
    this.failures = 0;
  }

  /**
   * Waits before the call is made again. Throws the failure where that would not help, or be one too many.
   * @param {unknown} failure
   * @param {boolean} isRepeatable
   */
  async fail(failure, isRepeatable) {
    this.failures += 1;
    const wait = pause(failure, this.failures, isRepeatable);
    if (wait === null || this.failures > this.retries || this.signal?.aborted) throw failure;
    await new Promise((resolve) => setTimeout(resolve, wait));
    this.signal?.throwIfAborted();
  }
}
