/** What became of the parts of a file for a reply, as the viewer marks it. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { markOf, numbersOf } from "../../conversations/static/conversations/js/given.js";

const REPLIES = [
  { reply: "second", position: 4, given: "1-2, 9", words: "", left_out: [{ parts: "3-8", reason: "over_budget" }] },
  { reply: "first", position: 2, given: "1-2, 5", words: "", left_out: [{ parts: "3-4, 6-9", reason: "unrelated" }] },
];

test("ranges are numbers, each once", () => {
  assert.deepEqual([...numbersOf("1-3, 7")], [1, 2, 3, 7]);
  assert.deepEqual([...numbersOf("")], []);
});

for (const [parts, reply, state, words] of [
  [[1], "first", "given", "Given for this reply"],
  [[1, 2], "second", "given", "Given for this reply"],
  [[2, 3], "second", "partly", "Given in part for this reply"],
  [[5], "second", "elsewhere", "Given for an earlier reply, not for this one"],
  [[9], "first", "elsewhere", "Given for a later reply, not for this one"],
  [[3], "second", "not", "Not given: over budget"],
  [[4], "first", "not", "Not given: unrelated"],
  [[], "first", "not", "Not given"],
])
  test(`parts ${parts} for the ${reply} reply: ${words}`, () => {
    assert.deepEqual(markOf(parts, REPLIES, reply), { state, words });
  });
