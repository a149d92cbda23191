import assert from "node:assert/strict";
import { test } from "node:test";

import { filledIn, matching, soughtIn } from "../../conversations/static/conversations/js/prompts.js";

test("variables are filled in wherever they stand, and what was left empty stays", () => {
  const text = "{{ kind }} of {{Jahr-Zahl}}, {{kind}}, {{}} and {{other}}";
  assert.equal(
    filledIn(text, { kind: "$& boats", "Jahr-Zahl": "2026", other: "" }),
    "$& boats of 2026, $& boats, {{}} and {{other}}",
  );
});

test("only a stroke at the beginning of one line asks for prompts", () => {
  assert.deepEqual(["/", "/ Boat ", "/a/b", "a /", "/a\nb", ""].map(soughtIn), ["", "boat", null, null, null, null]);
});

test("names that begin with the words come first, then texts that hold them", () => {
  const prompts = ["Row", "Borrow", "Sail"].map((name) => ({ name, text: name === "Sail" ? "or row" : "" }));
  assert.deepEqual(
    matching(prompts, "row").map(({ name }) => name),
    ["Row", "Borrow", "Sail"],
  );
  assert.deepEqual(matching(prompts, "keel"), []);
});
