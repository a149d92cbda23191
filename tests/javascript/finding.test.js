import assert from "node:assert/strict";
import test from "node:test";

import { marked, placeInFile } from "../../conversations/static/conversations/js/finding.js";

const words = (text, ...wanted) =>
  marked(text, wanted)
    .filter(([, isWord]) => isWord)
    .map(([part]) => part);

test("the parts are the whole text", () => {
  const text = "A garden, a Garden: gardens.";
  const parts = marked(text, ["garden"]).map(([part]) => part);
  assert.equal(parts.join(""), text);
});

test("a word is marked whole, never within another", () => {
  assert.deepEqual(words("The art of a start", "art"), ["art"]);
  assert.deepEqual(words("naïve", "na"), []);
});

test("scripts without spaces are marked within", () => {
  assert.deepEqual(words("東京都の庭", "京都"), ["京都"]);
});

test("what a pattern would read as a sign is a letter like any", () => {
  assert.deepEqual(words("costs 3.50 or 3x50", "3.50"), ["3.50"]);
  assert.deepEqual(words("a (b) c", "(b)"), ["(b)"]);
});

test("words that overlap are marked together", () => {
  assert.deepEqual(words("庭園の花", "庭園", "園の"), ["庭園の"]);
});

test("an empty text has no parts", () => {
  assert.deepEqual(marked("", ["a"]), []);
});

test("a place in a file is told by its part, its day and its turn, as far as there are any", () => {
  const file = { name: "lease.pdf", label: "page 4", created_at: "2026-03-01T12:00:00Z", position: 3 };
  assert.equal(placeInFile(file), "lease.pdf, page 4, 1 March 2026, turn 3");
  assert.equal(placeInFile({ ...file, label: null, position: null }), "lease.pdf, 1 March 2026");
});
