import assert from "node:assert/strict";
import test from "node:test";

import { ApiError } from "../../conversations/static/conversations/js/api.js";
import { newId, Outbox } from "../../conversations/static/conversations/js/outbox.js";
import { Sending } from "../../conversations/static/conversations/js/sending.js";
import { memoryStore } from "./memory-store.js";

/** A page's log that remembers what it was told. */
function plainLog() {
  const notes = new Map();
  return {
    notes,
    pending: (entry, note) => notes.set(entry.client_message_id, note),
    sayPending: (noteOf) => notes.forEach((_, id) => notes.set(id, noteOf(id))),
    withdraw: (id) => notes.delete(id),
  };
}

function sending(store = memoryStore()) {
  const log = plainLog();
  const sender = new Sending(store, "thread-1", /** @type {any} */ (log));
  const sent = [];
  const send = (frame) => Boolean(sent.push(frame));
  return { store, log, sender, sent, send };
}

test("an id is a UUID of version 4, with or without a secure context", () => {
  const shape = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  assert.match(newId(), shape);
  const { randomUUID } = crypto;
  try {
    Object.defineProperty(crypto, "randomUUID", { value: undefined, configurable: true });
    assert.match(newId(), shape);
  } finally {
    Object.defineProperty(crypto, "randomUUID", { value: randomUUID, configurable: true });
  }
});

test("what was not confirmed survives a reload", () => {
  const store = memoryStore();
  const entry = new Outbox(store, "thread-1").add("Hello");
  assert.deepEqual(new Outbox(store, "thread-1").entries, [entry]);
  assert.deepEqual(new Outbox(store, "thread-2").entries, []);
});

test("a thread that gets its id takes its messages along", () => {
  const store = memoryStore();
  const outbox = new Outbox(store, "new");
  const entry = outbox.add("Hello", ["file-1"], { assistant: "companion" });
  outbox.move("thread-1");
  assert.deepEqual(new Outbox(store, "new").entries, []);
  assert.deepEqual(new Outbox(store, "thread-1").entries, [entry]);
});

test("messages go out one at a time, the next when the first is confirmed", () => {
  const { sender, sent, send } = sending();
  sender.setConnected(true);
  sender.add("first");
  sender.add("second");
  sender.pump(send);
  sender.pump(send);
  assert.deepEqual(
    sent.map(({ content }) => content),
    ["first"],
  );
  assert.equal(sender.confirmed(sent[0].client_message_id), true);
  sender.pump(send);
  assert.deepEqual(
    sent.map(({ content }) => content),
    ["first", "second"],
  );
});

test("a new connection sends again what was on its way, under the same id", () => {
  const { sender, sent, send } = sending();
  sender.add("first");
  sender.pump(send);
  sender.again();
  sender.pump(send);
  assert.equal(sent.length, 2);
  assert.deepEqual(sent[0], sent[1]);
});

test("a connection that takes nothing leaves the message waiting", () => {
  const { sender, sent, send } = sending();
  sender.add("first");
  sender.pump(() => false);
  sender.pump(send);
  assert.equal(sent.length, 1);
});

test("a refused message comes back with its files and leaves the page", () => {
  const { sender, log, sent, send } = sending();
  sender.add("too much", ["file-1"]);
  sender.pump(send);
  const { client_message_id: id } = sent[0];
  assert.deepEqual(sender.refused(id), { client_message_id: id, content: "too much", files: ["file-1"] });
  assert.equal(log.notes.size, 0);
  assert.equal(sender.refused("unknown"), undefined);
});

test("a message that waits says what for", () => {
  const { sender, log, send } = sending();
  sender.add("first");
  sender.add("second");
  assert.match([...log.notes.values()][0], /as soon as the server is back/);
  sender.setConnected(true);
  sender.pump(send);
  assert.deepEqual([...log.notes.values()], ["Sending…", "Kept here. It is sent after the reply before it."]);
});

test("only some errors mean that the person is signed out", () => {
  const error = (status, code) => new ApiError(status, { code, message: "No." }).signedOut;
  assert.equal(error(401, "token_expired"), true);
  assert.equal(error(403, "not_authenticated"), true);
  assert.equal(error(403, "permission_denied"), false);
});
