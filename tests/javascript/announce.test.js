import assert from "node:assert/strict";
import { test } from "node:test";

import { spoken } from "../../conversations/static/conversations/js/announce.js";

const CASES = [
  ["Set `ANTHROPIC_API_KEY` first.", "Set ANTHROPIC_API_KEY first."],
  ["Call ``a `b` c`` and `__init__`.", "Call a b c and __init__."],
  ["snake_case_name stays, _this_ and __that__ are read", "snake_case_name stays, this and that are read"],
  ["**bold** and *not*, but 2 * 3 is six", "bold and not, but 2 * 3 is six"],
  ["# A heading\n> said\n- one\n* two", "A heading said one two"],
  ["C# and F# > C", "C# and F# > C"],
  ["| a | b |\n|---|:--|\n| 1 | 2 |", "a b 1 2"],
  ["[the docs](https://example.org/a_b) say", "the docs say"],
  ["Look:\n```python\nx_1 = 1\n```\nDone.", "Look: Code block. Done."],
];

for (const [text, words] of CASES)
  test(`what is read aloud of ${JSON.stringify(text)}`, () => assert.equal(spoken(text), words));
