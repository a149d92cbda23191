/** What the page says, where a code alone would say nothing to the reader. */

const STATUS = {
  stopped: "You stopped this reply here.",
  interrupted: "The server restarted before this reply was finished. What had arrived is kept.",
  incomplete: "The model stopped before the end.",
  refused: "The model declined to go on.",
  failed: "The reply failed here.",
};

/** Why an answer is incomplete, where the model's own word for it says more. */
const STOPPED_AT = {
  max_tokens: "The answer is as long as it may be here. It can go on.",
  model_context_window_exceeded:
    "No more fits into the model's context here. It can go on with less of the conversation.",
};

/** @returns {string} the note below a turn; empty for a complete one */
export function noteOf(status, { error = null, refusal = null, stop_reason: reason = "" } = {}) {
  if (["complete", "completed", "forgotten"].includes(status)) return "";
  if (refusal) return refusal.message;
  if (error?.message && status !== "stopped") return error.message;
  return (status === "incomplete" && STOPPED_AT[reason]) || STATUS[status] || `This reply ended as “${status}”.`;
}

/** @param {number} seconds so far, in whole ones */
export function thinkingFor(seconds) {
  if (seconds < 1) return "Thinking";
  return seconds < 100 ? `Thinking, ${seconds} s` : `Thinking, ${Math.floor(seconds / 60)} min ${seconds % 60} s`;
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
    return "The conversation was too large for the model at first. It was asked again, with less of it.";
  const what = words.sources[source] ?? `“${source.replaceAll("_", " ")}”`;
  const why = kind === "timed_out" ? "took too long to look up" : "could not be read";
  return `${what} ${why}. This reply had to do without.`;
}

/** @returns {string} empty unless finding a query went wrong */
export function queryFailureOf(outcome) {
  return words.query_failures[outcome] ?? "";
}

export function sectionOf(name) {
  return words.sections[name] ?? name.replaceAll("_", " ");
}

const whole = new Intl.NumberFormat("en");

export function count(number, one, many = `${one}s`) {
  return `${whole.format(number)} ${number === 1 ? one : many}`;
}

export function number(value) {
  return whole.format(value);
}

/** 2937 → "2.9k" */
export function short(value) {
  if (value < 1000) return String(value);
  const thousands = value / 1000;
  return `${thousands < 100 ? thousands.toFixed(1).replace(/\.0$/, "") : Math.round(thousands)}k`;
}

const time = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "short" });

export function clock(iso) {
  return time.format(new Date(iso));
}

export function fullTime(iso) {
  return moment.format(new Date(iso));
}
