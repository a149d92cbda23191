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

const REASONS = {
  newest: "the message to answer",
  recent: "recent enough for the window",
  shortened: "shortened to fit",
  over_budget: "older than what the budget holds",
  turn_limit: "older than the largest number of turns",
  superseded: "replaced by a later attempt",
  fulfilled_artifact: "already done: its document exists",
  refused: "the model declined to answer it",
  failed: "words of a reply that failed",
  offline: "words of the offline responder, which are no model's",
  limit: "more than are told of at once",
  repeated: "said again, and recalled once",
  orphan_tool: "nothing in it that a model can read",
  remembered: "remembered about you",
  recalled: "recalled for this message",
  listed: "named, because it stands beside this conversation",
  outside_part: "not of the part that was read",
  expired: "no longer true",
};

/** Where the same reason says something else than of a turn. */
const REASONS_OF = {
  memory: { over_budget: "no room left for it" },
  topic: { over_budget: "no room left for it", remembered: "still open" },
  artifact: { over_budget: "no room left for it" },
  summary: { over_budget: "no room left for it", remembered: "what was said before, in short" },
};

export function reasonOf(code, kind = "message") {
  return REASONS_OF[kind]?.[code] ?? REASONS[code] ?? code.replaceAll("_", " ");
}

const SOURCES = {
  preferences: "Your memory settings",
  memory: "What it knows about you",
  today: "What you did today",
  open_threads: "Your open topics",
  last_conversation: "Your last conversation",
  recall: "What else it remembers",
};

/** What the model had to do without. @param {{source: string, kind: string}} problem */
export function problemOf({ source, kind }) {
  if (kind === "too_large")
    return "The conversation was too large for the model at first. It was asked again, with less of it.";
  const what = SOURCES[source] ?? `“${source.replaceAll("_", " ")}”`;
  const why = kind === "timed_out" ? "took too long to look up" : "could not be read";
  return `${what} ${why}. This reply had to do without.`;
}

const QUERY_FAILURES = {
  failed: "Nobody could be asked what your message refers to. It was sent just as you wrote it.",
  timed_out: "Finding out what your message refers to took too long. It was sent just as you wrote it.",
  by_rules: "No model could say what your message refers to. It was found by simple rules.",
};

/** @returns {string} empty unless finding a query went wrong */
export function queryFailureOf(outcome) {
  return QUERY_FAILURES[outcome] ?? "";
}

const SECTIONS = {
  program: "What the program before the model adds",
  tools: "Tools it may use",
  base: "Instructions",
  rules: "Rules about documents",
  instructions: "Instructions of the program that asked",
  memory: "What it knows about you",
  today: "Today",
  open_threads: "Open topics",
  last_conversation: "Last conversation",
  history: "Earlier turns",
  message: "Your message",
  reply: "What this reply did before",
};

export function sectionOf(name) {
  return SECTIONS[name] ?? name.replaceAll("_", " ");
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
