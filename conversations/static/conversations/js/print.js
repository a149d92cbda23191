/** A whole conversation on paper: all its turns are loaded, set as in the chat, and printed by the browser. */

import { allDrawn } from "../../artifacts/js/diagrams.js";
import { became } from "../../artifacts/js/naming.js";
import { api } from "./api.js";
import { dressCode, dressTables } from "./code.js";
import { byId, h } from "./dom.js";
import { dateFormat, gettext, ngettext } from "./language.js";
import { renderWritten } from "./markdown.js";
import { mathsSet } from "./maths.js";
import { Prose } from "./prose.js";
import { wholeSourceList } from "./sources.js";
import { clock, fullTime, noteOf } from "./words.js";

const PAGE = 200;

const page = JSON.parse(byId("page").textContent);
const turns = byId("turns");
const status = byId("print-status");
const button = byId("print");
const day = dateFormat({ dateStyle: "full" });
/** Of the turn before. */
let dayBefore = "";

byId("names").addEventListener("change", ({ target }) => turns.classList.toggle("without-names", !target.checked));
button.addEventListener("click", () => print());
byId("again").addEventListener("click", load);
load();

async function load() {
  byId("again").hidden = true;
  turns.replaceChildren();
  dayBefore = "";
  try {
    const loaded = await everyTurn();
    say(gettext("Drawing …"));
    await Promise.all([mathsSet(), allDrawn()]);
    say(ngettext("{count} turn, ready to print.", "{count} turns, ready to print.", loaded));
    turns.removeAttribute("aria-busy");
    button.disabled = false;
    button.focus();
  } catch (error) {
    say(gettext("Not all of it could be loaded. {reason}", { reason: error.message }));
    byId("again").hidden = false;
  }
}

/** Page by page, from the first one on. @returns {Promise<number>} how many */
async function everyTurn() {
  let loaded = 0;
  let next = `threads/${page.thread.id}/messages/?page_size=${PAGE}`;
  while (next) {
    say(ngettext("Loading … {count} turn so far.", "Loading … {count} turns so far.", loaded));
    const answer = await api.get(next);
    turns.append(...answer.results.flatMap(sheetsOf));
    loaded += answer.results.length;
    next = answer.next;
  }
  return loaded;
}

function say(words) {
  status.textContent = words;
}

/** A turn, after the line of its day where one begins. @param {Message} message */
function sheetsOf(message) {
  const date = day.format(new Date(message.created_at));
  const begins = date !== dayBefore;
  dayBefore = date;
  return [...(begins ? [h("p", { class: "turn-day" }, date)] : []), turnOf(message)];
}

/** @param {Message} message */
function turnOf(message) {
  const isOfPerson = message.role === "user";
  const name = isOfPerson ? page.user.name : page.assistant;
  const note = isOfPerson ? "" : noteOf(message.status, message.reply ?? {});
  return h(
    "article",
    { class: `sheet-turn ${isOfPerson ? "user" : "assistant"}` },
    h(
      "h2",
      { class: "sheet-turn-head" },
      h("span", { class: "sheet-turn-name" }, name),
      h("time", { datetime: message.created_at, title: fullTime(message.created_at) }, clock(message.created_at)),
    ),
    ...contentOf(message),
    ...wholeSourceList(message.status === "forgotten" ? [] : (message.sources ?? [])),
    note && h("p", { class: "sheet-turn-note" }, note),
  );
}

/** @param {Message} message @returns {Node[]} */
function contentOf(message) {
  if (message.status === "forgotten") return [h("p", { class: "sheet-turn-note" }, gettext("Forgotten"))];
  const results = new Map(
    message.content.filter(({ type }) => type === "tool_result").map((block) => [block.tool_use_id, block]),
  );
  const files = message.content.filter(({ type }) => type === "file").map(({ name }) => name || gettext("File"));
  const shown = message.content.flatMap((block) => {
    if (block.type === "text" && message.role !== "user") return block.text.trim() ? [prose(block.text)] : [];
    if (block.type === "tool_use")
      return [h("p", { class: "sheet-turn-note" }, became(block, results.get(block.id)).words)];
    if (block.type === "tool_result" && message.role === "user")
      return [h("p", { class: "sheet-turn-note" }, gettext("What a tool of the program gave"))];
    return [];
  });
  if (message.role === "user" && message.text) shown.push(written(message.text));
  const names = gettext("With {files}", { files: files.join(", ") });
  if (files.length) shown.unshift(h("p", { class: "sheet-turn-note" }, names));
  return shown;
}

function prose(text) {
  const element = h("div", { class: "prose", dir: "auto" });
  new Prose(element).finish(text);
  return element;
}

function written(text) {
  const words = renderWritten(text);
  dressCode(words, { growing: false });
  dressTables(words);
  return h("div", { class: "prose written", dir: "auto" }, words);
}
