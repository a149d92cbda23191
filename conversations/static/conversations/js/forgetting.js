/** Forgetting notes, turns and everything: what will go, and what went. */

import { h, icon } from "./dom.js";
import { askForGood } from "./for-good.js";
import { count } from "./words.js";

const SHOWN = 12;
const EXCERPT = 220;

/**
 * What goes besides notes and turns: before, and afterwards.
 * @type {[string, (n: number) => string, (n: number) => string][]}
 */
const OTHERS = [
  ["topics", (n) => `${count(n, "open topic")} that came from it`, (n) => `${count(n, "open topic")}`],
  [
    "titles",
    (n) => `${count(n, "title")} of a conversation that says it: it gets another`,
    (n) => `${count(n, "title")}, replaced by another`,
  ],
  [
    "artifacts",
    (n) => `${count(n, "version")} of documents that hold it lose their content`,
    (n) => `the content of ${count(n, "version")} of documents`,
  ],
  [
    "summaries",
    (n) => `${count(n, "summary", "summaries")} that rest on it: written anew without it`,
    (n) => `${count(n, "summary", "summaries")}, to be written anew`,
  ],
  [
    "snapshots",
    (n) => `the text of ${count(n, "recorded request")} where it stood: each then says that something was forgotten`,
    (n) => `the text of ${count(n, "recorded request")}`,
  ],
];

/**
 * @param {{path: string, body?: Row, title: string, quote?: string, lead: string, typed?: string}} asked
 *   `path` of what is forgotten, to which `forgetting/` and `forget/` are added; `typed`: words that must be typed
 * first
 * @returns {Promise<Row | null>} what was done, once the person has read it
 */
export function forget({ path, body, title, quote, lead, typed }) {
  return askForGood({
    look: `${path}forgetting/`,
    act: `${path}forget/`,
    body,
    title,
    typed,
    yes: "Forget",
    over: "Forgotten",
    before: (what) => before(what, { quote, lead, notes: typed ? "note" : "other note" }),
    after,
  });
}

/** `notes`: how those are called that go; the one that was asked for is quoted and not counted. */
function before(what, { quote, lead, notes }) {
  const many = what.memories.length - (quote ? 1 : 0);
  const others = [many > 0 && count(many, notes), ...OTHERS.map(([name, words]) => what[name] > 0 && words(what[name]))]
    .filter(Boolean)
    .map((words) => h("li", {}, words));
  const sources = what.turns.filter(({ why }) => why === "source");
  const mentions = what.turns.filter(({ why }) => why !== "source");
  return [
    quote && h("blockquote", { dir: "auto" }, quote),
    h("p", {}, lead),
    ...turns(sources, (n) => `${count(n, "turn")} in which it was said`),
    ...turns(mentions, (n) => `${count(n, "turn")} in which it was repeated`),
    others.length > 0 && what.turns.length > 0 && h("h3", {}, "Besides"),
    others.length > 0 && h("ul", { class: "forget-others" }, ...others),
  ].filter(Boolean);
}

function after(done) {
  const lines = [
    done.memories.length > 0 && count(done.memories.length, "note"),
    done.turns.length > 0 &&
      `the text of ${count(done.turns.length, "turn")}: in the conversation it says “Forgotten” there`,
    ...OTHERS.filter(([name]) => done[name] > 0).map(([name, , words]) => words(done[name])),
  ].filter(Boolean);
  if (!lines.length) return [h("p", {}, "Nothing was left to forget.")];
  return [
    h("p", {}, "This is gone for good:"),
    h("ul", { class: "forget-others gone" }, ...lines.map((line) => h("li", {}, icon("check"), line))),
  ];
}

function turns(all, words) {
  if (!all.length) return [];
  const more = all.length - SHOWN;
  return [
    h("h3", {}, words(all.length)),
    h(
      "ul",
      { class: "forget-turns" },
      ...all.slice(0, SHOWN).map(turn),
      more > 0 && h("li", { class: "quiet" }, `and ${count(more, "more", "more")}`),
    ),
  ];
}

function turn({ thread, position, role, text }) {
  const excerpt = text.length > EXCERPT ? `${text.slice(0, EXCERPT).trimEnd()}…` : text;
  const who = role === "user" ? "You" : "Reply";
  return h(
    "li",
    {},
    h(
      "a",
      { href: `/threads/${thread}/#turn-${position}`, target: "_blank", title: "Read it in the conversation" },
      who,
    ),
    h("span", { dir: "auto" }, excerpt),
  );
}
