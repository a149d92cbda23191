import assert from "node:assert/strict";
import { test } from "node:test";

import {
  ALL,
  ARCHIVED,
  belongs,
  groupsOf,
  merged,
} from "../../conversations/static/conversations/js/thread-groups.js";
import { changesOf, offered } from "../../conversations/static/conversations/js/thread-tags.js";

const NOW = new Date("2026-03-10T12:00:00");
const thread = (id, values = {}) => ({ id, title: id, updated_at: `2026-03-10T1${id}:00:00Z`, ...values });

test("pinned threads stand above projects, and these above the days", () => {
  const project = { id: "p", name: "Boats", colour: "blue" };
  const threads = [
    thread("4", { project: "p", pinned: true }),
    thread("3", { project: "p" }),
    thread("2"),
    thread("1", { pinned: true }),
    thread("0", { project: "gone" }),
  ];
  const { pinned, projects, days } = groupsOf(threads, [project], false, NOW);
  const ids = (some) => some.map(({ id }) => id);
  assert.deepEqual(ids(pinned), ["4", "1"]);
  assert.deepEqual(
    projects.map(({ project: { name }, threads: some }) => [name, ids(some)]),
    [["Boats", ["3"]]],
  );
  assert.deepEqual(
    days.map(([name, some]) => [name, ids(some)]),
    [["Today", ["2", "0"]]],
  );
  const [[, today]] = groupsOf(threads, [project], true, NOW).days;
  assert.deepEqual(ids(today), ["2"], "the other one is in a project that is not loaded yet");
});

test("what comes replaces what is known, and what belongs elsewhere now goes", () => {
  const before = [thread("2"), thread("1")];
  const come = [{ id: "1", archived: true }, thread("2", { title: "new" }), thread("3")];
  assert.deepEqual(
    merged(ALL, before, come).map(({ id, title }) => [id, title]),
    [
      ["3", "3"],
      ["2", "new"],
    ],
  );
  assert.equal(belongs(ARCHIVED, { ...thread("1"), archived: true }), true);
  assert.equal(belongs({ kind: "tag", tag: "x" }, thread("1", { tags: ["x"] })), true);
  assert.equal(belongs({ kind: "tag", tag: "x" }, thread("1", { tags: ["x"], archived: true })), false);
});

test("a box that is left as it is changes nothing of several threads", () => {
  const boxes = offered([thread("1", { tags: ["a", "b"] }), thread("2", { tags: ["a"] })], ["c"]);
  assert.deepEqual(boxes, [
    { tag: "a", has: "all" },
    { tag: "b", has: "some" },
    { tag: "c", has: "none" },
  ]);
  const checked = { a: false, b: false, c: true };
  const ticked = boxes.map((box) => ({ ...box, checked: checked[box.tag], mixed: box.tag === "b" }));
  assert.deepEqual(changesOf(ticked, " new , ,other"), { add_tags: ["c", "new", "other"], remove_tags: ["a"] });
});
