/** The REST API with the session's cookie. Every failure is an ApiError whose message can be shown to people. */

import { gettext, errorText } from "./language.js";
import { isIdle } from "./presence.js";

const ROOT = "/api/v1/";
/** Milliseconds until what is only read is given up: a connection that has died says nothing for minutes. */
const LONGEST_READ = 30_000;

export class ApiError extends Error {
  /** @param {{code: string, message: string, details?: Row, wording?: any}} error */
  constructor(status, error) {
    super(errorText(error));
    this.status = status;
    this.code = error.code;
    this.details = error.details ?? {};
  }

  get signedOut() {
    return (
      this.status === 401 ||
      (this.status === 403 &&
        ["not_authenticated", "authentication_failed", "second_factor_needed"].includes(this.code))
    );
  }

  get needsNotice() {
    return this.code === "notice_not_accepted";
  }
}

export function csrfToken() {
  return document.cookie.match(/(?:^|; )(?:__Host-)?csrftoken=([^;]+)/)?.[1] ?? "";
}

/** @returns {Promise<any>} the answer's JSON; `null` for 204 */
async function call(method, path, body) {
  const headers = { Accept: "application/json" };
  if (method !== "GET") headers["X-CSRFToken"] = csrfToken();
  else if (isIdle()) headers["X-Openbook-Idle"] = "1";
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const url = new URL(path, new URL(ROOT, location.origin));
  // A `next` link carries the host that the server believes it has, which behind a proxy may not be this one.
  const response = await fetch(url.pathname + url.search, {
    method,
    headers,
    body: body && JSON.stringify(body),
    signal: method === "GET" ? AbortSignal.timeout(LONGEST_READ) : undefined,
  }).catch(() => {
    throw new ApiError(0, {
      code: "unreachable",
      message: gettext("The server can't be reached. Check the connection and try again."),
    });
  });
  if (response.status === 204) return null;
  const answer = await response.json().catch(() => null);
  if (response.ok && answer !== null) return answer;
  throw new ApiError(
    response.status,
    answer?.error ?? {
      code: "unexpected",
      message: gettext("The server answered with status {status}. Try again.", { status: response.status }),
    },
  );
}

export const api = {
  get: (path) => call("GET", path),
  post: (path, body = {}) => call("POST", path, body),
  patch: (path, body) => call("PATCH", path, body),
  delete: (path) => call("DELETE", path),
};
