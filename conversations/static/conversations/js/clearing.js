/** Clearing a conversation: all its turns go, the conversation itself stays. */

import { h, icon } from "./dom.js";
import { askForGood } from "./for-good.js";
import { gettext, ngettext } from "./language.js";

/**
 * What goes, beside the turns: before, and afterwards.
 * @type {[string, (n: number) => string, (n: number) => string][]}
 */
const GOES = [
  [
    "titles",
    () => gettext("its title, which is the beginning of a turn: your next message gives it another"),
    () => gettext("its title"),
  ],
  [
    "memories",
    (n) => ngettext("{count} note that rests on nothing else", "{count} notes that rest on nothing else", n),
    (n) => ngettext("{count} note", "{count} notes", n),
  ],
  [
    "topics",
    (n) => ngettext("{count} open topic", "{count} open topics", n),
    (n) => ngettext("{count} open topic", "{count} open topics", n),
  ],
  [
    "summaries",
    (n) => ngettext("{count} summary that tells of it", "{count} summaries that tell of it", n),
    (n) => ngettext("{count} summary", "{count} summaries", n),
  ],
  [
    "quotes",
    (n) =>
      ngettext(
        "{count} reply in other conversations that quotes it word for word",
        "{count} replies in other conversations that quote it word for word",
        n,
      ),
    (n) => ngettext("{count} reply in other conversations", "{count} replies in other conversations", n),
  ],
  [
    "snapshots",
    (n) =>
      ngettext(
        "the text of {count} recorded request that was given some of it",
        "the text of {count} recorded requests that were given some of it",
        n,
      ),
    (n) => ngettext("the text of {count} recorded request", "the text of {count} recorded requests", n),
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
    title: gettext("Clear this conversation?"),
    yes: gettext("Clear"),
    over: gettext("Cleared"),
    before: (what) => before(what, thread.title),
    after,
    isNothing: ({ messages }) => !messages,
  });
}

function before(what, title) {
  const named = title ? `“${title}”` : gettext("This conversation");
  if (!what.messages) return [h(
    "p",
    { dir: "auto" },
    gettext("{named} has no turns. There is nothing to clear.", { named }),
  )];
  const goes = [
    ngettext("{count} turn", "{count} turns", what.messages),
    ...GOES.filter(([name]) => what[name]).map(([name, words]) => words(what[name])),
  ];
  const stays = [
    what.titles
      ? gettext("the conversation, with its settings")
      : gettext("the conversation, with its title and settings"),
    what.kept_artifacts &&
      ngettext("{count} artifact made in it", "{count} artifacts made in it", what.kept_artifacts),
    gettext("what other conversations say, and notes that rest on them too"),
  ].filter(Boolean);
  return [
    h("p", { dir: "auto" }, gettext("{named} begins anew. This goes:", { named })),
    list(goes),
    h("h3", {}, gettext("This stays")),
    list(stays),
  ];
}

function after(done) {
  const gone = [
    ngettext("{count} turn", "{count} turns", done.messages),
    ...GOES.filter(([name]) => done[name]).map(([name, , words]) => words(done[name])),
  ];
  return [
    h("p", {}, gettext("This is gone for good:")),
    h("ul", { class: "forget-others gone" }, ...gone.map((words) => h("li", {}, icon("check"), words))),
  ];
}

function list(lines) {
  return h("ul", { class: "forget-others" }, ...lines.map((words) => h("li", {}, words)));
}
