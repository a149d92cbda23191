import assert from "node:assert/strict";
import test from "node:test";

import { ApiError } from "../../conversations/static/conversations/js/api.js";
import { Attachments } from "../../conversations/static/conversations/js/attachments.js";
import * as words from "../../conversations/static/conversations/js/file-words.js";
import { Files } from "../../conversations/static/conversations/js/files.js";
import { memoryStore } from "./memory-store.js";

const LIMITS = { file_mb: 1, files: 4 };

/** Uploads that end when they are told to. */
function uploads() {
  const begun = [];
  const upload = (file, name, onUploaded) => {
    const { promise: done, resolve, reject } = Promise.withResolvers();
    const one = {
      name,
      onUploaded,
      end: async () => {
        resolve({ id: `id-${name}`, name, kind: "text", bytes: file.size, status: "ready", thread: null });
        await done;
        await null;
      },
      fail: async (status, code = "cut") => {
        reject(new ApiError(status, { code, message: "No." }));
        await done.catch(() => {});
        await null;
      },
    };
    begun.push(one);
    return { done, cancel: () => one.fail(0, "cancelled") };
  };
  return { begun, upload };
}

function attachments({ store = memoryStore(), files = new Files(async () => never()) } = {}) {
  const { begun, upload } = uploads();
  const those = new Attachments(store, files, LIMITS, /** @type {any} */ (upload));
  those.open("thread-1");
  return { store, files, begun, those };
}

function never() {
  throw new Error("Nothing was to be asked.");
}

function file(name, size = 10) {
  return /** @type {any} */ ({ name, size, type: "" });
}

test("sizes are said as file managers say them", () => {
  assert.deepEqual(
    [1, 999, 1536, 40_960, 2 ** 20, 5_400_000, 300 * 2 ** 20].map(words.sizeOf),
    ["1 byte", "999 bytes", "1.5 KB", "40 KB", "1 MB", "5.1 MB", "300 MB"],
  );
});

test("what was left out of a file is counted by kind, and keeps all of it from being said", () => {
  const entry = (what, often) => ({ what, count: often });
  const common = [entry("chart", 2), entry("hidden paragraph", 1), entry("film", 3)];
  const entries = [...common, entry("macro", 1), entry("note", 2)];
  const said = "Not read: 2 charts, 1 hidden paragraph, 3 films, 3 other things";
  assert.equal(words.unreadOf({ left_out: entries }), said);
  assert.equal(words.unreadOf({ left_out: entries.slice(0, 1) }), "Not read: 2 charts");
  assert.equal(words.unreadOf({ left_out: [] }), "");
  assert.deepEqual(
    [{ left_out: [] }, { left_out: entries }, { left_out: [], error: { message: "Too long." } }].map(words.allOf),
    ["all of it", "all that could be read", "all that could be read"],
  );
});

test("a picture from the clipboard is named by its time, a file keeps its name", () => {
  const at = new Date(2026, 2, 3, 9, 5);
  assert.equal(words.nameOf({ name: "image.png" }, at), "Screenshot 09.05.png");
  assert.equal(words.nameOf({ name: "holiday.png" }, at), "holiday.png");
  assert.equal(words.nameOf({ name: "image.png" }), "image.png");
});

test("reading tells pages, slides and sheets, and nothing of a single one", () => {
  assert.equal(words.readingOf({ kind: "pdf", pages: 300, pages_read: 12 }), "Reading, page 12 of 300");
  assert.equal(words.readingOf({ kind: "sheet", pages: 3, pages_read: 1 }), "Reading, sheet 1 of 3");
  assert.equal(words.readingOf({ kind: "text", pages: null, pages_read: 0 }), "Reading");
  assert.equal(words.kindOf({ kind: "slides", pages: 2 }), "Slides, 2 slides");
  assert.equal(words.kindOf({ kind: "image", pages: 1 }), "Picture");
});

test("two files are named, more are counted", () => {
  assert.equal(words.namesOf(["a"]), "“a”");
  assert.equal(words.namesOf(["a", "b"]), "“a” and “b”");
  assert.equal(words.namesOf(["a", "b", "c", "d"]), "“a”, “b” and 2 others");
});

test("three are uploaded at once, the next as one of them ends", async () => {
  const { those, begun } = attachments();
  those.add([file("a"), file("b"), file("c"), file("d")]);
  assert.deepEqual(
    begun.map(({ name }) => name),
    ["a", "b", "c"],
  );
  await begun[1].end();
  assert.deepEqual(
    begun.map(({ name }) => name),
    ["a", "b", "c", "d"],
  );
  assert.equal(those.uploading, true);
  await Promise.all([0, 2, 3].map((index) => begun[index].end()));
  assert.equal(those.uploading, false);
  assert.deepEqual(those.take(), ["id-a", "id-b", "id-c", "id-d"]);
  assert.deepEqual(those.shown, []);
});

test("not more are taken than a message may bring, and none that is too large is sent", () => {
  const { those, begun } = attachments();
  const added = those.add([file("large", 2 ** 20 + 1), file("b"), file("c"), file("d"), file("e")]);
  assert.deepEqual(
    added.map(({ name, problem }) => [name, problem ?? null]),
    [
      ["large", "Larger than 1 MB, which is the most for a file."],
      ["b", null],
      ["c", null],
      ["d", null],
    ],
  );
  assert.equal(begun.length, 3);
  assert.equal(those.failed.name, "large");
});

test("what is uploaded survives a reload, of each thread its own", async () => {
  const { those, begun, store, files } = attachments();
  those.add([file("a"), file("b")]);
  await begun[0].end();
  const again = attachments({ store, files }).those;
  assert.deepEqual(
    again.shown.map(({ id, name, state }) => [id, name, state]),
    [["id-a", "a", "uploaded"]],
  );
  again.open("thread-2");
  assert.deepEqual(again.shown, []);
});

test("a thread that gets its id takes its files along, also those on their way", async () => {
  const { those, begun, store } = attachments();
  those.open("new");
  those.add([file("a")]);
  those.renamed("thread-3");
  await begun[0].end();
  assert.deepEqual(store.read("files:new", []), []);
  assert.deepEqual(store.read("files:thread-3", []), [{ id: "id-a", name: "a", size: 10 }]);
});

test("an upload without a connection waits and goes on, one that was refused does not", async () => {
  const { those, begun } = attachments();
  those.setConnected(false);
  those.add([file("a"), file("b")]);
  await begun[0].fail(0);
  await begun[1].fail(400);
  assert.deepEqual(
    those.shown.map(({ state, hopeless }) => [state, Boolean(hopeless)]),
    [
      ["away", false],
      ["refused", true],
    ],
  );
  those.setConnected(true);
  assert.deepEqual(
    begun.map(({ name }) => name),
    ["a", "b", "a"],
  );
});

test("one that was sent from another tab is not shown any more", () => {
  const files = new Files(async () => never());
  files.put(/** @type {any} */ ({ id: "id-a", name: "a", bytes: 10, status: "ready", thread: "thread-1" }));
  const store = memoryStore();
  store.write("files:thread-1", [{ id: "id-a", name: "a", size: 10 }]);
  assert.deepEqual(attachments({ store, files }).those.shown, []);
});

test("a file is asked for until it is read, and told once to each who listens", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const answers = [
    { id: "f", status: "reading", pages_read: 1 },
    { id: "f", status: "ready", pages_read: 2 },
  ];
  const files = new Files(async () => /** @type {any} */ (answers.shift()));
  const heard = [];
  files.watch("f", ({ pages_read }) => heard.push(pages_read));
  for (let round = 0; round < 4; round += 1) {
    t.mock.timers.tick(2000);
    await new Promise(setImmediate);
  }
  assert.deepEqual(heard, [1, 2]);
  files.watch("f", ({ pages_read }) => heard.push(pages_read));
  assert.deepEqual(heard, [1, 2, 2]);
});

test("a file that is not found is gone, one that is not to be reached is asked for again", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const failures = [0, 404];
  const files = new Files(async () => {
    throw new ApiError(failures.shift(), { code: "x", message: "No." });
  });
  const heard = [];
  files.watch("f", ({ status }) => heard.push(status));
  for (let round = 0; round < 2; round += 1) {
    t.mock.timers.tick(5000);
    await new Promise(setImmediate);
  }
  assert.deepEqual(heard, ["gone"]);
});
