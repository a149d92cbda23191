import assert from "node:assert/strict";
import test from "node:test";

import { hintOf, isOwn, limitsOf, Models } from "../../conversations/static/conversations/js/models.js";

const large = {
  id: "large",
  name: "Large",
  provider: "anthropic",
  context_window: 200_000,
  tools: true,
  memory: true,
  assistants: ["companion", "analyst"],
  default_of: ["analyst"],
};
const small = {
  ...large,
  id: "small",
  name: "Small",
  context_window: 8_000,
  tools: false,
  memory: false,
  assistants: ["companion"],
  default_of: ["companion"],
};
const page = { models: { large: "Large", small: "Small" }, choices: [large, small] };

test("an assistant's own model comes first, and only what is offered for it", () => {
  const models = new Models(page);
  assert.deepEqual(models.of("companion"), [small, large]);
  assert.deepEqual(models.of("analyst"), [large]);
  assert.deepEqual(models.of(null), []);
  assert.deepEqual([isOwn(small, "companion"), isOwn(large, "companion")], [true, false]);
});

test("the chosen model answers as long as it is offered, else the assistant's own", () => {
  const models = new Models(page);
  assert.equal(models.answering({ assistant: "companion", model: "large" }), large);
  assert.equal(models.answering({ assistant: "companion", model: "" }), small);
  assert.equal(models.answering({ assistant: "analyst", model: "small" }), large);
  assert.equal(models.answering({ assistant: "nobody" }), undefined);
});

test("two models of one name are told apart by who is asked", () => {
  const elsewhere = { ...large, id: "team/large", provider: "team" };
  const models = new Models({ ...page, choices: [large, elsewhere, small] });
  assert.deepEqual([large, elsewhere, small].map((choice) => models.nameOf(choice)), [
    "Large (anthropic)",
    "Large (team)",
    "Small",
  ]);
  assert.equal(models.name("large", "team"), "Large (team)");
  assert.equal(models.name("of-nobody", "team"), "of-nobody");
});

test("what a model can't is said in few words", () => {
  assert.deepEqual(limitsOf(large), []);
  assert.deepEqual(limitsOf(small), [
    "makes no documents",
    "sees this conversation alone",
    "reads 8k tokens at most",
  ]);
  assert.equal(hintOf(large), "");
  const usual = hintOf({ ...small, memory: true }, "usual here");
  assert.equal(usual, "Usual here, makes no documents, reads 8k tokens at most");
});
