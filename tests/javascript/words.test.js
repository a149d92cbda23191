import assert from "node:assert/strict";
import test from "node:test";

import {
  noteOf,
  number,
  problemOf,
  queryFailureOf,
  reasonOf,
  sectionOf,
  short,
  thinkingFor,
  useWords,
} from "../../conversations/static/conversations/js/words.js";

useWords({
  reasons: { over_budget: "older than what the budget holds" },
  reasons_of: { memory: { over_budget: "no room left for it" } },
  sections: { open_threads: "Open topics" },
  sources: { recall: "What else it remembers" },
  query_failures: { by_rules: "It was found by simple rules." },
});

test("a complete turn has no note", () => {
  for (const status of ["complete", "completed", "forgotten"]) assert.equal(noteOf(status), "");
});

test("a note says what the server knows, unless the person stopped the reply", () => {
  const error = { message: "The model is overloaded." };
  assert.equal(noteOf("failed", { error }), "The model is overloaded.");
  assert.equal(noteOf("stopped", { error }), "You stopped this reply here.");
  assert.equal(noteOf("refused", { error, refusal: { message: "Not this." } }), "Not this.");
});

test("an incomplete reply says why it ended where the model told", () => {
  assert.match(noteOf("incomplete", { stop_reason: "max_tokens" }), /as long as it may be/);
  assert.equal(noteOf("incomplete", { stop_reason: "pause_turn" }), "The model stopped before the end.");
});

test("a status that nobody knows yet is shown as it is", () => {
  assert.equal(noteOf("evaporated"), "This reply ended as “evaporated”.");
});

test("a reason is worded by what was left out, then in general, then as its code", () => {
  assert.equal(reasonOf("over_budget", "memory"), "no room left for it");
  assert.equal(reasonOf("over_budget"), "older than what the budget holds");
  assert.equal(reasonOf("moon_phase"), "moon phase");
});

test("what could not be read is named", () => {
  const problem = problemOf({ source: "recall", kind: "timed_out" });
  assert.equal(problem, "What else it remembers took too long to look up. This reply had to do without.");
  assert.match(problemOf({ source: "star_chart", kind: "failed" }), /^“star chart” could not be read/);
});

test("only a query that went wrong is spoken of", () => {
  assert.equal(queryFailureOf("rewritten"), "");
  assert.match(queryFailureOf("by_rules"), /simple rules/);
});

test("seconds of thinking become minutes", () => {
  const told = [0.4, 1, 99, 100, 125].map(thinkingFor);
  assert.deepEqual(told, [
    "Thinking",
    "Thinking, 1 s",
    "Thinking, 99 s",
    "Thinking, 1 min 40 s",
    "Thinking, 2 min 5 s",
  ]);
});

test("numbers are grouped and shortened", () => {
  assert.equal(number(1234567), "1,234,567");
  assert.deepEqual([999, 1000, 2937, 150_400].map(short), ["999", "1k", "2.9k", "150k"]);
});

test("a section that has no name of its own is readable", () => {
  assert.equal(sectionOf("open_threads"), "Open topics");
  assert.equal(sectionOf("new_section"), "new section");
});
