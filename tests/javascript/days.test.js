import assert from "node:assert/strict";
import test from "node:test";

import { byDay, dayGroup, newDays } from "../../conversations/static/conversations/js/days.js";
import { dayIn, originOf } from "../../memory/static/memory/js/words.js";

const now = new Date(2026, 10, 22, 0, 30);

test("a day begins at midnight, not 24 hours ago", () => {
  assert.equal(dayGroup(new Date(2026, 10, 22, 0, 1), now), "Today");
  assert.equal(dayGroup(new Date(2026, 10, 21, 23, 59), now), "Yesterday");
  assert.equal(dayGroup(new Date(2026, 10, 15, 23, 59), now), "Previous 7 days");
  assert.equal(dayGroup(new Date(2026, 10, 14, 23, 59), now), "November 2026");
});

test("a clock that is behind the server's shows today", () => {
  assert.equal(dayGroup(new Date(2026, 10, 23, 1), now), "Today");
});

test("a conversation of several days names each where it begins, one of today none", () => {
  const at = (...date) => new Date(...date).toISOString();
  const today = at(2026, 10, 22, 0, 10);
  assert.deepEqual(newDays([today, today], now), [null, null]);
  assert.deepEqual(newDays([at(2026, 2, 1, 9), at(2026, 2, 1, 23), at(2026, 2, 2, 1), today], now), [
    "Sunday, March 1, 2026",
    null,
    "Monday, March 2, 2026",
    "Today",
  ]);
});

test("threads keep their order within their days", () => {
  const thread = (id, date) => ({ id, updated_at: date.toISOString() });
  const [a, b, c] = [
    thread("a", new Date(2026, 10, 22, 0, 20)),
    thread("b", new Date(2026, 10, 21, 12)),
    thread("c", new Date(2026, 10, 21, 8)),
  ];
  assert.deepEqual(byDay([a, b, c], now), [
    ["Today", [a]],
    ["Yesterday", [b, c]],
  ]);
});

test("a day is that of the person's zone, and its year is named unless it is this one", () => {
  const day = dayIn("Asia/Tokyo", now);
  assert.equal(day("2026-03-04T20:00:00Z"), "5 March");
  assert.equal(day("2025-03-04T10:00:00Z"), "4 March 2025");
});

test("a note says where it came from", () => {
  const day = dayIn("UTC", now);
  const at = "2026-03-04T10:00:00Z";
  const from = (origin, source = null) => originOf({ origin, source, created_at: at }, day);
  assert.equal(from("conversation", { created_at: at }), "You said so on 4 March");
  assert.equal(from("program", { created_at: at }), "From a conversation on 4 March");
  assert.equal(from("conversation"), "From a conversation of 4 March that is gone");
  assert.equal(from("hand"), "You wrote it down on 4 March");
  assert.equal(from("program"), "A program added it on 4 March");
});
