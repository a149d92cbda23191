import assert from "node:assert/strict";
import test from "node:test";

import { became, doing, downloadsOf, kindOf, versionLine } from "../../artifacts/static/artifacts/js/naming.js";
import { csvRows, isMarkdown } from "../../artifacts/static/artifacts/js/tables.js";

const ID = "0198c0de-0000-7000-8000-00000000abcd";

test("a kind is named, code with its language", () => {
  assert.equal(kindOf({ kind: "table", language: "" }), "Table");
  assert.equal(kindOf({ kind: "code", language: "python" }), "Code · python");
  assert.equal(kindOf({ kind: "hologram", language: "" }), "Artifact");
});

test("only a table can be taken along as a workbook", () => {
  const formats = (kind) => downloadsOf(kind).map(({ format }) => format);
  assert.deepEqual(formats("table"), ["xlsx", "csv", "source", "md", "html", "docx", "pdf"]);
  assert.deepEqual(formats("code"), ["source", "md", "html", "docx", "pdf"]);
});

test("a version's line says who made it, unless the model did", () => {
  const line = versionLine({ version: 3, origin: "hand", created_at: "2020-01-02T10:00:00Z" });
  assert.match(line, /^Version 3 · .*2020.* · by hand$/);
  assert.doesNotMatch(versionLine({ version: 3, origin: "reply", created_at: "2020-01-02T10:00:00Z" }), /by/);
});

test("a tool that is at work is named, with what it works at", () => {
  assert.equal(doing("save_artifact", "Plan"), "Writing “Plan” …");
  assert.equal(doing("save_artifact", "", "Saving …"), "Saving …");
  assert.equal(doing("look_up_weather"), "Using “look up weather” …");
});

test("a saved artifact leads to its version", () => {
  const use = { name: "save_artifact", input: { title: "Plan" } };
  const result = { content: [{ type: "text", text: `Saved as version 2, id ${ID}.` }] };
  assert.deepEqual(became(use, result), {
    words: "Saved “Plan”, version 2",
    artifact: { id: ID, title: "Plan", version: 2 },
  });
});

test("a call without a result was stopped, one with an error failed", () => {
  const use = { name: "read_artifact", input: {} };
  assert.deepEqual(became(use), { words: "Reading an artifact was stopped", failed: true });
  assert.deepEqual(became(use, { is_error: true, content: "gone" }), {
    words: "An artifact could not be read",
    failed: true,
  });
  assert.deepEqual(became(use, { content: "text" }), { words: "Read an artifact" });
});

test("a comma-separated table keeps quoted commas, quotes and newlines", () => {
  const rows = csvRows('name,note\r\n"Smith, Jo","said ""hi""\nand left"\nplain,\n');
  assert.deepEqual(rows, [
    ["name", "note"],
    ["Smith, Jo", 'said "hi"\nand left'],
    ["plain", ""],
  ]);
});

test("the sign that the first line uses most separates the cells", () => {
  assert.deepEqual(csvRows("a;b;c\n1,5;2;3"), [
    ["a", "b", "c"],
    ["1,5", "2", "3"],
  ]);
  assert.deepEqual(csvRows("a\tb\n1\t2")[1], ["1", "2"]);
});

test("a quote that is never closed is a sign like any", () => {
  assert.deepEqual(csvRows('a,b\n"open,1'), [
    ["a", "b"],
    ['"open', "1"],
  ]);
});

test("a Markdown table is told from CSV", () => {
  assert.equal(isMarkdown("| a | b |\n| --- | ---: |\n| 1 | 2 |"), true);
  assert.equal(isMarkdown("a,b\n1,2"), false);
});
