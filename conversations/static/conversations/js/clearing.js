/** Clearing a conversation: all its turns go, the conversation itself stays. */

import { h, icon } from "./dom.js";
import { askForGood } from "./for-good.js";
import { count } from "./words.js";

/**
 * What goes, beside the turns: before, and afterwards.
 * @type {[string, (n: number) => string, (n: number) => string][]}
 */
const GOES = [
  [
    "titles",
    () => "its title, which is the beginning of a turn: your next message gives it another",
    () => "its title",
  ],
  [
    "memories",
    (n) => `${count(n, "note")} that ${n === 1 ? "rests" : "rest"} on nothing else`,
    (n) => count(n, "note"),
  ],
  ["topics", (n) => count(n, "open topic"), (n) => count(n, "open topic")],
  [
    "summaries",
    (n) => `${count(n, "summary", "summaries")} that ${n === 1 ? "tells" : "tell"} of it`,
    (n) => count(n, "summary", "summaries"),
  ],
  [
    "quotes",
    (n) =>
      `${count(n, "reply", "replies")} in other conversations that ${n === 1 ? "quotes" : "quote"} it word for word`,
    (n) => `${count(n, "reply", "replies")} in other conversations`,
  ],
  [
    "snapshots",
    (n) => `the text of ${count(n, "recorded request")} that ${n === 1 ? "was" : "were"} given some of it`,
    (n) => `the text of ${count(n, "recorded request")}`,
  ],
];

/**
 * @param {{id: string, title: string}} thread
 * @returns {Promise<Row | null>} what went, once the person has read it
 */
export function clear(thread) {
  return askForGood({
    look: `threads/${thread.id}/clearing/`,
    act: `threads/${thread.id}/clear/`,
    title: "Clear this conversation?",
    yes: "Clear",
    over: "Cleared",
    before: (what) => before(what, thread.title),
    after,
    isNothing: ({ messages }) => !messages,
  });
}

function before(what, title) {
  const named = title ? `“${title}”` : "This conversation";
  if (!what.messages) return [h("p", { dir: "auto" }, `${named} has no turns. There is nothing to clear.`)];
  const goes = [
    count(what.messages, "turn"),
    ...GOES.filter(([name]) => what[name]).map(([name, words]) => words(what[name])),
  ];
  const stays = [
    what.titles ? "the conversation, with its settings" : "the conversation, with its title and settings",
    what.kept_artifacts && `${count(what.kept_artifacts, "artifact")} made in it`,
    "what other conversations say, and notes that rest on them too",
  ].filter(Boolean);
  return [
    h("p", { dir: "auto" }, `${named} begins anew. This goes:`),
    list(goes),
    h("h3", {}, "This stays"),
    list(stays),
  ];
}

function after(done) {
  const gone = [
    count(done.messages, "turn"),
    ...GOES.filter(([name]) => done[name]).map(([name, , words]) => words(done[name])),
  ];
  return [
    h("p", {}, "This is gone for good:"),
    h("ul", { class: "forget-others gone" }, ...gone.map((words) => h("li", {}, icon("check"), words))),
  ];
}

function list(lines) {
  return h("ul", { class: "forget-others" }, ...lines.map((words) => h("li", {}, words)));
}
