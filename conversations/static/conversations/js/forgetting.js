/** Forgetting notes, turns and everything: what will go, and what went. */

import { h, icon } from "./dom.js";
import { askForGood } from "./for-good.js";
import { gettext, ngettext } from "./language.js";

const SHOWN = 12;
const EXCERPT = 220;

/**
 * What goes besides notes and turns: before, and afterwards where that reads otherwise.
 * @type {[string, (n: number) => string, ((n: number) => string)?][]}
 */
const OTHERS = [
  [
    "topics",
    (n) => ngettext("{count} open topic that came from it", "{count} open topics that came from it", n),
    (n) => ngettext("{count} open topic", "{count} open topics", n),
  ],
  [
    "titles",
    (n) =>
      ngettext(
        "{count} title of a conversation that says it: it gets another",
        "{count} titles of conversations that say it: they get others",
        n,
      ),
    (n) => ngettext("{count} title, replaced by another", "{count} titles, replaced by others", n),
  ],
  [
    "artifacts",
    (n) =>
      ngettext(
        "{count} version of a document that holds it loses its content",
        "{count} versions of documents that hold it lose their content",
        n,
      ),
    (n) =>
      ngettext("the content of {count} version of a document", "the content of {count} versions of documents", n),
  ],
  [
    "instructions",
    (n) => ngettext("{count} text of your instructions", "{count} texts of your instructions", n),
  ],
  [
    "projects",
    (n) =>
      ngettext(
        "{count} name of a project: it becomes “[forgotten]”",
        "{count} names of projects: they become “[forgotten]”",
        n,
      ),
  ],
  ["prompts", (n) => ngettext("{count} prompt of yours", "{count} prompts of yours", n)],
  ["feedback", (n) => ngettext("your feedback on {count} reply", "your feedback on {count} replies", n)],
  [
    "summaries",
    (n) =>
      ngettext(
        "{count} summary that rests on it: written anew without it",
        "{count} summaries that rest on it: written anew without it",
        n,
      ),
    (n) => ngettext("{count} summary, to be written anew", "{count} summaries, to be written anew", n),
  ],
  [
    "snapshots",
    (n) =>
      ngettext(
        "the text of {count} recorded request where it stood: it then says that something was forgotten",
        "the text of {count} recorded requests where it stood: each then says that something was forgotten",
        n,
      ),
    (n) => ngettext("the text of {count} recorded request", "the text of {count} recorded requests", n),
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
    yes: gettext("Forget"),
    over: gettext("Forgotten"),
    before: (what) => before(what, { quote, lead, isOnly: Boolean(typed) }),
    after,
  });
}

/** `isOnly`: no note was asked for by itself; else that one is quoted, and not counted. */
function before(what, { quote, lead, isOnly }) {
  const many = what.memories.length - (quote ? 1 : 0);
  const notes = isOnly
    ? ngettext("{count} note", "{count} notes", many)
    : ngettext("{count} other note", "{count} other notes", many);
  const others = [many > 0 && notes, ...OTHERS.map(([name, words]) => what[name] > 0 && words(what[name]))]
    .filter(Boolean)
    .map((words) => h("li", {}, words));
  const sources = what.turns.filter(({ why }) => why === "source");
  const mentions = what.turns.filter(({ why }) => why !== "source");
  return [
    quote && h("blockquote", { dir: "auto" }, quote),
    h("p", {}, lead),
    ...turns(sources, (n) => ngettext("{count} turn in which it was said", "{count} turns in which it was said", n)),
    ...turns(mentions, (n) =>
      ngettext("{count} turn in which it was repeated", "{count} turns in which it was repeated", n),
    ),
    others.length > 0 && what.turns.length > 0 && h("h3", {}, gettext("Besides")),
    others.length > 0 && h("ul", { class: "forget-others" }, ...others),
  ].filter(Boolean);
}

function after(done) {
  const lines = [
    done.memories.length > 0 && ngettext("{count} note", "{count} notes", done.memories.length),
    done.turns.length > 0 &&
      ngettext(
        "the text of {count} turn: in the conversation it says “Forgotten” there",
        "the text of {count} turns: in the conversation it says “Forgotten” there",
        done.turns.length,
      ),
    ...OTHERS.filter(([name]) => done[name] > 0).map(([name, beforehand, words = beforehand]) => words(done[name])),
  ].filter(Boolean);
  if (!lines.length) return [h("p", {}, gettext("Nothing was left to forget."))];
  return [
    h("p", {}, gettext("This is gone for good:")),
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
      more > 0 && h("li", { class: "quiet" }, gettext("and {more} more", { more })),
    ),
  ];
}

function turn({ thread, position, role, text }) {
  const excerpt = text.length > EXCERPT ? `${text.slice(0, EXCERPT).trimEnd()}…` : text;
  const who = role === "user" ? gettext("You") : gettext("Reply");
  return h(
    "li",
    {},
    h(
      "a",
      { href: `/threads/${thread}/#turn-${position}`, target: "_blank", title: gettext("Read it in the conversation") },
      who,
    ),
    h("span", { dir: "auto" }, excerpt),
  );
}
