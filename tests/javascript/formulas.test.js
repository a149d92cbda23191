import assert from "node:assert/strict";
import test from "node:test";

import { blockFormulaAt, formulaAt, inAlphabet, texOf } from "../../conversations/static/conversations/js/formulas.js";

test("formulas are what stands within their signs, on one line", () => {
  const formulas = ["$x^2$", "\\(a+b\\)", "$$a_1$$", "\\[x\\]", "$2 \\text{ cm and more}$"];
  for (const formula of formulas) {
    assert.equal(formulaAt(`${formula} and so on`), formula);
  }
  assert.equal(formulaAt(String.raw`$a\$b$ $c$`), String.raw`$a\$b$`);
});

test("prices, names of variables and what has not ended are text", () => {
  for (const text of [
    "$5 and $10",
    "$5-$10",
    "$5, or 5$ then",
    "$5–10 for two$",
    "$HOME/$USER",
    "$ x$",
    "$x",
    String.raw`\(x`,
    "$$x",
    "$1,000 a month, US$2",
  ]) {
    assert.equal(formulaAt(text), undefined, text);
  }
  assert.equal(formulaAt("$6 and A$", "S"), undefined);
});

test("a block of mathematics has lines of its own", () => {
  assert.equal(blockFormulaAt("$$\na\n$$\nand"), "$$\na\n$$\n");
  assert.equal(blockFormulaAt("\\[\na\n\\]"), "\\[\na\n\\]");
  assert.equal(blockFormulaAt("$$\na\n"), undefined);
});

test("the signs around a formula say how it is set", () => {
  assert.deepEqual(texOf("$x$"), { tex: "x", display: false });
  assert.deepEqual(texOf(String.raw`\( x \)`), { tex: "x", display: false });
  assert.deepEqual(texOf("$$ x $$"), { tex: "x", display: true });
  assert.deepEqual(texOf("\\[\nx\n\\]"), { tex: "x", display: true });
});

test("letters of other alphabets are Unicode's own", () => {
  assert.equal(inAlphabet("RNx1", "double-struck"), "ℝℕ𝕩𝟙");
  assert.equal(inAlphabet("xX9", "bold"), "𝐱𝐗𝟗");
  assert.equal(inAlphabet("LA", "script"), "ℒ𝒜");
  assert.equal(inAlphabet("sin", "normal"), "sin");
});
