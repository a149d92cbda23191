/** What the page says, where a code alone would say nothing to the reader. */

import { dateFormat, errorText, gettext, locale, number } from "./language.js";

const STATUS = {
  stopped: gettext("You stopped this reply here."),
  interrupted: gettext("The server restarted before this reply was finished. What had arrived is kept."),
  incomplete: gettext("The model stopped before the end."),
  refused: gettext("The model declined to go on."),
  failed: gettext("The reply failed here."),
};

/** Why an answer is incomplete, where the model's own word for it says more. */
const STOPPED_AT = {
  max_tokens: gettext("The answer is as long as it may be here. It can go on."),
  model_context_window_exceeded:
    gettext("No more fits into the model's context here. It can go on with less of the conversation."),
};

/** @returns {string} the note below a turn; empty for a complete one */
export function noteOf(status, { error = null, refusal = null, stop_reason: reason = "" } = {}) {
  if (["complete", "completed", "forgotten"].includes(status)) return "";
  if (refusal) return errorText(refusal);
  if (error?.message && status !== "stopped") return errorText(error);
  return (status === "incomplete" && STOPPED_AT[reason]) || STATUS[status] || gettext(
    "This reply ended as “{status}”.",
    { status },
  );
}

/** @param {number} seconds so far, in whole ones */
export function thinkingFor(seconds) {
  if (seconds < 1) return gettext("Thinking");
  return seconds < 100
    ? gettext("Thinking, {seconds} s", { seconds })
    : gettext("Thinking, {minutes} min {rest} s", { minutes: Math.floor(seconds / 60), rest: seconds % 60 });
}

/** What the server calls reasons, sections and sources: it words them once for page, admin and API. */
let words = { reasons: {}, reasons_of: {}, sections: {}, sources: {}, query_failures: {} };

export function useWords(given) {
  words = given;
}

export function reasonOf(code, kind = "message") {
  return words.reasons_of[kind]?.[code] ?? words.reasons[code] ?? code.replaceAll("_", " ");
}

/** What the model had to do without. @param {{source: string, kind: string}} problem */
export function problemOf({ source, kind }) {
  if (kind === "too_large")
    return gettext("The conversation was too large for the model at first. It was asked again, with less of it.");
  const what = words.sources[source] ?? `“${source.replaceAll("_", " ")}”`;
  return kind === "timed_out"
    ? gettext("{what} took too long to look up. This reply had to do without.", { what })
    : gettext("{what} could not be read. This reply had to do without.", { what });
}

/** @returns {string} empty unless finding a query went wrong */
export function queryFailureOf(outcome) {
  return words.query_failures[outcome] ?? "";
}

export function sectionOf(name) {
  return words.sections[name] ?? name.replaceAll("_", " ");
}

export { number };

const [compact, compactWhole] = [1, 0].map(
  (maximumFractionDigits) => new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits }),
);

/** 2937 → "2.9k" */
export function short(value) {
  if (value < 1000) return number(value);
  return (value < 100_000 ? compact : compactWhole).format(value).toLowerCase();
}

const time = dateFormat({ hour: "2-digit", minute: "2-digit" });
const moment = dateFormat({ dateStyle: "full", timeStyle: "short" });

export function clock(iso) {
  return time.format(new Date(iso));
}

export function fullTime(iso) {
  return moment.format(new Date(iso));
}
