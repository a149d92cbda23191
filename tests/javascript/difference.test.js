import assert from "node:assert/strict";
import test from "node:test";

import { linesOf, runsOf, tallyOf } from "../../artifacts/static/artifacts/js/difference.js";

const textOf = (lines, ...kinds) =>
  lines.filter(({ kind }) => kinds.includes(kind)).map(({ pieces }) => pieces.map(({ text }) => text).join(""));

test("equal texts differ in nothing", () => {
  const lines = linesOf("a\nb\n", "a\nb\n");
  assert.deepEqual(tallyOf(lines), { added: 0, removed: 0 });
});

test("the lines give back both texts", () => {
  const [before, after] = ["one\ntwo\nthree\n", "one\ntwo and a half\nthree\nfour\n"];
  const lines = linesOf(before, after);
  assert.deepEqual(textOf(lines, "same", "removed"), ["one", "two", "three"]);
  assert.deepEqual(textOf(lines, "same", "added"), ["one", "two and a half", "three", "four"]);
  assert.deepEqual(tallyOf(lines), { added: 2, removed: 1 });
});

test("within a rewritten line only the words that changed are marked", () => {
  const lines = linesOf("the red house\n", "the blue house\n");
  const changed = lines.map(({ pieces }) => pieces.filter(({ changed: is }) => is).map(({ text }) => text));
  assert.deepEqual(changed, [["red"], ["blue"]]);
});

test("a missing newline at the end is no difference", () => {
  assert.deepEqual(tallyOf(linesOf("a\nb", "a\nb\n")), { added: 0, removed: 0 });
});

test("an empty text becomes another", () => {
  assert.deepEqual(tallyOf(linesOf("", "a\nb\n")), { added: 2, removed: 0 });
});

test("what did not change is folded away, but for three lines around", () => {
  const many = Array.from({ length: 20 }, (_, index) => `line ${index}`);
  const lines = linesOf(`${many.join("\n")}\n`, `${many.with(10, "another").join("\n")}\n`);
  const runs = runsOf(lines).map(({ folded, lines: inside }) => [folded, inside.length]);
  assert.deepEqual(runs, [
    [true, 7],
    [false, 8],
    [true, 6],
  ]);
});
