import assert from "node:assert/strict";
import test from "node:test";

import { withWords } from "../../conversations/static/conversations/js/dictation.js";
import { languageOf, sentencesOf } from "../../conversations/static/conversations/js/readable.js";

test("a reply is read without Markdown's signs, code and formulas", () => {
  const reply = [
    "# Plan",
    "Take **two** [boats](https://example.org). Then `row`!",
    "```python\nprint('never read')\n```",
    "- For $x$, not $\\frac{a}{b}$, see https://example.org/a?b=c.",
    "- Last",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "$$\n\\int\n$$",
    "~~~\nan open fence",
  ].join("\n\n");
  assert.deepEqual(sentencesOf(reply, "a formula"), [
    "Plan",
    "Take two boats.",
    "Then row!",
    "For x, not a formula, see .",
    "Last",
    "a b",
    "1 2",
    "a formula",
  ]);
  assert.deepEqual(sentencesOf("```\nonly code\n```"), []);
});

test("long sentences are read in parts, whole ones otherwise", () => {
  const parts = sentencesOf(`${"one more word, ".repeat(40)}end.`);
  assert.ok(parts.length > 2 && parts.every((part) => part.length <= 220));
  assert.equal(parts.join(" "), `${"one more word, ".repeat(40)}end.`);
});

test("the voice is that of the reply's language", () => {
  assert.equal(languageOf("Das ist nicht der Punkt, und es ist kein Fehler.", "en-GB"), "de");
  assert.equal(languageOf("The point is that it is not an error.", "de-AT"), "en");
  assert.equal(languageOf("The point is that it is not an error.", "en-GB"), "en-GB");
  assert.equal(languageOf("日本語で書きます。", "en"), "ja");
  assert.equal(languageOf("نعم، هذا صحيح", "en"), "ar");
  assert.equal(languageOf("Ok", "fr"), "fr");
});

test("what is dictated stands where the cursor was, with blanks around it", () => {
  assert.equal(withWords("Hello", " there", ""), "Hello there");
  assert.equal(withWords("Hello ", "there", ", you"), "Hello there, you");
  assert.equal(withWords("", "one", "two"), "one two");
  assert.equal(withWords("a", "  ", "b"), "ab");
});
