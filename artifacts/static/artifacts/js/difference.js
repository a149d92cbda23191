/** What changed between two texts: lines, and the words within lines that were rewritten. */

import { diffLines } from "diff/line.js";
import { diffWordsWithSpace } from "diff/word.js";

import { h } from "../../conversations/js/dom.js";
import { gettext, ngettext } from "../../conversations/js/language.js";

/** After this the whole old text is shown as removed and the new one as added. */
const PATIENCE = 1500;
const LONGEST_BY_WORDS = 20_000;
const AROUND = 3;
const SIGNS = { added: "+", removed: "−", same: " " };

/**
 * @typedef {{text: string, changed: boolean}[]} Pieces
 * @typedef {{kind: "added" | "removed" | "same", pieces: Pieces}} Line
 * @returns {Line[]}
 */
export function linesOf(before, after) {
  const parts = diffLines(ended(before), ended(after), { timeout: PATIENCE }) ?? [
    { value: ended(before), removed: true },
    { value: ended(after), added: true },
  ];
  const lines = [];
  for (let index = 0; index < parts.length; index += 1) {
    const [part, next] = [parts[index], parts[index + 1]];
    if (part.removed && next?.added) {
      lines.push(...rewritten(part.value, next.value));
      index += 1;
    } else {
      lines.push(...plain(part.value, part.removed ? "removed" : part.added ? "added" : "same"));
    }
  }
  return lines;
}

/** @param {Line[]} lines @returns {{added: number, removed: number}} */
export function tallyOf(lines) {
  const number = (wanted) => lines.filter(({ kind }) => kind === wanted).length;
  return { added: number("added"), removed: number("removed") };
}

function ended(text) {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

function plain(text, kind) {
  return text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => ({ kind, pieces: [{ text: line, changed: false }] }));
}

function rewritten(before, after) {
  if (before.length + after.length > LONGEST_BY_WORDS) return [...plain(before, "removed"), ...plain(after, "added")];
  const words = diffWordsWithSpace(before, after);
  // Texts that have next to nothing in common are easier to read whole.
  const kept = words
    .filter(({ added, removed }) => !added && !removed)
    .reduce((sum, { value }) => sum + value.trim().length, 0);
  if (kept * 4 < Math.min(before.length, after.length)) return [...plain(before, "removed"), ...plain(after, "added")];
  return [
    ...broken(
      words.filter(({ added }) => !added).map(({ value, removed }) => ({ text: value, changed: Boolean(removed) })),
      "removed",
    ),
    ...broken(
      words.filter(({ removed }) => !removed).map(({ value, added }) => ({ text: value, changed: Boolean(added) })),
      "added",
    ),
  ];
}

/** Pieces of a text → pieces of its lines. */
function broken(pieces, kind) {
  const lines = [[]];
  for (const { text, changed } of pieces) {
    text.split("\n").forEach((part, index) => {
      if (index) lines.push([]);
      if (part) lines.at(-1).push({ text: part, changed });
    });
  }
  if (lines.at(-1).length === 0) lines.pop();
  return lines.map((line) => ({ kind, pieces: line }));
}

/**
 * @param {Line[]} lines
 * @returns {({lines: Line[], folded: boolean})[]} runs; what did not change is folded away from changes
 */
export function runsOf(lines) {
  const near = lines.map((_, index) =>
    lines.slice(Math.max(0, index - AROUND), index + AROUND + 1).some(({ kind }) => kind !== "same"),
  );
  const runs = [];
  lines.forEach((line, index) => {
    const folded = !near[index];
    if (runs.at(-1)?.folded !== folded) runs.push({ folded, lines: [] });
    runs.at(-1).lines.push(line);
  });
  return runs;
}

/** @returns {HTMLElement} */
export function renderDifference(before, after) {
  const lines = linesOf(before, after);
  const { added, removed } = tallyOf(lines);
  if (!added && !removed) return h("p", { class: "quiet" }, gettext("Nothing differs between these two."));
  return h(
    "section",
    { class: "difference", "aria-label": gettext("Difference") },
    h(
      "p",
      { class: "difference-sum" },
      gettext(
        "+ {added} added, − {removed} removed",
        {
          added: ngettext("{count} line", "{count} lines", added),
          removed: ngettext("{count} line", "{count} lines", removed),
        },
      ),
    ),
    h(
      "div",
      { class: "difference-lines", tabindex: 0, role: "region", "aria-label": gettext("Changed lines") },
      ...runsOf(lines).map(run),
    ),
  );
}

function run({ folded, lines }) {
  if (!folded || lines.length < 2) return h("div", { class: "run" }, ...lines.map(line));
  const open = () => button.replaceWith(h("div", { class: "run" }, ...lines.map(line)));
  const button = h(
    "button",
    { type: "button", class: "fold", onclick: open },
    ngettext("Show {count} unchanged line", "Show {count} unchanged lines", lines.length),
  );
  return button;
}

function line({ kind, pieces }) {
  const tag = { added: "ins", removed: "del" }[kind] ?? "span";
  const words = pieces.map(({ text, changed }) => (changed ? h("mark", {}, text) : text));
  return h(
    "div",
    { class: `line ${kind}` },
    h("span", { class: "sign" }, SIGNS[kind]),
    h(tag, { dir: "auto" }, ...words, pieces.some(({ text }) => text) ? "" : "\u200b"),
  );
}
