/**
 * The book: what the model was given for a reply. The gauge by the composer and the panel, both from the recorded
 * request.
 */

import { api } from "./api.js";
import { byId, h, icon } from "./dom.js";
import { gettext, ngettext } from "./language.js";
import { sourceList } from "./sources.js";
import { fullTime, number, problemOf, queryFailureOf, sectionOf, short } from "./words.js";

const LINKED = 20; // ids that an address holds with ease
const CUT = "[…]"; // where a quoted turn was cut
const QUOTED = gettext("Each quote of an earlier turn leads to the whole: by […] where it was cut, else by the arrow.");
const RECORDED = {
  title: gettext("The book of this reply"),
  about: gettext("Read-only: what the model was given, as it was recorded before it was called."),
};
const COMING = {
  title: gettext("The book of the next reply"),
  about: gettext("Nothing is sent yet: this is what your next message would be given."),
};

export class Book {
  #known = new Map(); // request id → snapshot
  #newest = null;
  #preview = null; // of a message that is not sent

  /**
   * @param {{staff: boolean}} user
   * @param {{onTurn: (thread: string, position: number) => void}} on
   */
  constructor({ staff }, { onTurn }) {
    this.staff = staff;
    this.onTurn = onTurn;
    this.dialog = byId("book");
    this.body = byId("book-body");
    this.button = byId("gauge");
    this.button.addEventListener("click", () => (this.#preview ? this.#show(this.#preview) : this.open(this.#newest)));
    this.dialog.addEventListener("click", (event) => event.target === this.dialog && this.dialog.close());
  }

  /** The request that the gauge is about. */
  get newest() {
    return this.#newest;
  }

  /** @param {string | null} request @param {{total_tokens: number, budget: number}} [facts] */
  gauge(request, facts) {
    this.#newest = request;
    this.#preview = null;
    this.#fill(request && facts, gettext("The last request held"));
  }

  /** The gauge of the next message, as it would be asked now. @param {Row} snapshot as `threads/{id}/context/` gives */
  preview(snapshot) {
    this.#preview = snapshot;
    this.#fill(snapshot, gettext("The next request would hold about"));
  }

  #fill(facts, holds) {
    this.button.hidden = !facts;
    if (!facts) return;
    const part = Math.min(1, facts.total_tokens / facts.budget);
    byId("gauge-fill").style.inlineSize = `${part * 100}%`;
    const figures = gettext(
      "{used} of {budget}",
      { used: short(facts.total_tokens), budget: short(facts.budget) },
    );
    byId("gauge-words").textContent = figures;
    const share = gettext(
      "{used} of {budget} tokens",
      { used: number(facts.total_tokens), budget: number(facts.budget) },
    );
    const words = gettext("{holds} {share}. Open the book.", { holds, share });
    // begins with what is seen, for who speaks to the page
    this.button.setAttribute("aria-label", `${figures}. ${words}`);
    this.button.title = words;
  }

  async read(request) {
    const known = this.#known.get(request);
    if (known) return known;
    const snapshot = await api.get(`requests/${request}/`);
    if (snapshot.status !== "pending") this.#known.set(request, snapshot);
    return snapshot;
  }

  /** What was read before may hold what is forgotten now. */
  forget() {
    this.#known.clear();
  }

  async open(request) {
    this.#call(RECORDED);
    this.body.replaceChildren(h("p", { class: "quiet" }, gettext("Opening the book…")));
    if (!this.dialog.open) this.dialog.showModal();
    try {
      this.body.replaceChildren(...this.#pages(request, await this.read(request)));
    } catch (error) {
      const again = h(
        "button",
        { type: "button", class: "button", onclick: () => this.open(request) },
        gettext("Try again"),
      );
      this.body.replaceChildren(h("p", { class: "warning-words" }, error.message), again);
    }
  }

  #show(snapshot) {
    this.#call(COMING);
    this.body.replaceChildren(...this.#pages(null, snapshot));
    if (!this.dialog.open) this.dialog.showModal();
  }

  #call({ title, about }) {
    byId("book-title").textContent = title;
    byId("book-about").textContent = about;
  }

  #pages(request, snapshot) {
    const known = [summary, switched, forgotten, failures, bar, understood, fates].map((page) => page(snapshot));
    const read = texts(snapshot, (thread, position) => this.#leave(thread, position));
    return [...known, read, facts(snapshot), this.staff && request && evidence(request)].filter(Boolean);
  }

  #leave(thread, position) {
    this.dialog.close();
    this.onTurn(thread, position);
  }
}

function summary(snapshot) {
  const { message_history_count: turns, total_tokens: total, budget, hard_cap: cap, token_factor: factor } = snapshot;
  const most = { total, budget, cap };
  const about = snapshot.id ? given(turns) : toBeGiven(turns);
  const counted = { factor: factor.toFixed(2) };
  return h(
    "p",
    { class: "book-summary" },
    about,
    " ",
    gettext("That is about {total} tokens of a budget of {budget} (never more than {cap}).", most),
    factor === 1
      ? ""
      : ` ${gettext("Counted as this model does: {factor} times our plain estimate.", counted)}`,
  );
}

function given(turns) {
  if (!turns) return gettext("The model was given your message alone, without earlier turns.");
  return ngettext(
    "The model was given your message and {count} earlier turn.",
    "The model was given your message and {count} earlier turns.",
    turns,
  );
}

function toBeGiven(turns) {
  if (!turns) return gettext("The model would be given your message alone, without earlier turns.");
  return ngettext(
    "The model would be given your message and {count} earlier turn.",
    "The model would be given your message and {count} earlier turns.",
    turns,
  );
}

function switched({ switch: change }) {
  return change && h("p", { class: "book-switch" }, change.text);
}

function forgotten({ forgotten_at: at }) {
  if (!at) return null;
  return h(
    "p",
    { class: "book-forgotten" },
    icon("forget"),
    h(
      "span",
      {},
      gettext(
        "Something in it was forgotten at your wish, on {at}. Those words are gone here too.",
        { at: fullTime(at) },
      ),
    ),
  );
}

function failures({ problems, rewriting }) {
  const words = [...problems.map(problemOf), queryFailureOf(rewriting.outcome)].filter(Boolean);
  return words.length
    ? h(
        "ul",
        { class: "failures", "aria-label": gettext("What went wrong") },
        ...words.map((said) => h("li", {}, icon("warn"), said)),
      )
    : null;
}

/** The query without the mark that tells the model who wrote it. */
function understood({ rewriting }) {
  if (!rewriting.query) return null;
  return h(
    "section",
    { class: "understood" },
    h("h3", {}, gettext("How your message was understood")),
    h("blockquote", { dir: "auto" }, rewriting.query.replace(/^\[[^\]]*\]\s*/, "")),
    h("p", {}, gettext("Openbook added this beside your message, which was sent word for word.")),
  );
}

function bar({ sections, budget, total_tokens: total }) {
  const shown = sections.filter(({ tokens }) => tokens > 0);
  const part = (tokens) => `${(tokens / Math.max(budget, total)) * 100}%`;
  const segments = shown.map(({ name, tokens }) => {
    const segment = h("span", { class: `segment section-${name}` });
    segment.style.inlineSize = part(tokens);
    return segment;
  });
  const legend = shown.map(({ name, tokens }) =>
    h(
      "li",
      {},
      h("span", { class: `swatch section-${name}` }),
      h("span", {}, sectionOf(name)),
      h("span", { class: "figure" }, number(tokens)),
    ),
  );
  const room = Math.max(0, budget - total);
  return h(
    "figure",
    { class: "stack-bar" },
    h("div", { class: "track", "aria-hidden": "true" }, ...segments),
    h(
      "ul",
      {},
      ...legend,
      h(
        "li",
        {},
        h("span", { class: "swatch room" }),
        h("span", {}, gettext("Room left")),
        h("span", { class: "figure" }, number(room)),
      ),
    ),
    h("figcaption", {}, gettext("Estimated tokens by part")),
  );
}

function fates({ items, fates: told }) {
  const line = ({ kind, included, reason, what, why }) => {
    const words = h("strong", {}, what);
    const ids =
      kind === "memory"
        ? items.filter((item) => item.kind === kind && item.included === included && item.reason === reason)
        : [];
    const named = ids.slice(0, LINKED).map(({ id }) => id);
    const link =
      named.length > 0 &&
      h(
        "a",
        {
          class: "fate-link",
          href: `/memory/#memory-${named.join()}`,
          title: gettext("Read and change it on the memory page"),
        },
        words,
      );
    return h("li", {}, link || words, ` – ${why}`);
  };
  const list = (title, included, none) => {
    const lines = told.filter((fate) => fate.included === included).map(line);
    return h(
      "section",
      { class: included ? "fate included" : "fate left-out" },
      h("h3", {}, title),
      lines.length ? h("ul", {}, ...lines) : h("p", {}, none),
    );
  };
  return h(
    "div",
    { class: "fates" },
    list(gettext("Included"), true, gettext("Nothing.")),
    list(gettext("Left out"), false, gettext("Nothing was left out.")),
  );
}

function texts({ sections }, onTurn) {
  const readable = sections.filter(({ text, forgotten_at: at }) => text || at);
  const fold = ({ name, tokens, text, quotes = [], sources = [] }) =>
    h(
      "details",
      {},
      h(
        "summary",
        {},
        h("span", {}, sectionOf(name)),
        h("span", { class: "figure" }, ngettext("{count} token", "{count} tokens", tokens)),
      ),
      quotes.length > 0 && h("p", { class: "quiet" }, QUOTED),
      sourceList(sources),
      text
        ? h("pre", { tabindex: 0, dir: "auto" }, ...linked(text, quotes, onTurn))
        : h("p", { class: "quiet" }, gettext("Forgotten.")),
    );
  return readable.length
    ? h("section", { class: "texts" }, h("h3", {}, gettext("Read it")), ...readable.map(fold))
    : null;
}

/** A text, with links to the turns that its lines quote: its marks where the turn was cut, else one behind the line. */
function linked(text, quotes, onTurn) {
  const quoteOf = new Map(quotes.map((quote) => [quote.line, quote]));
  return text.split("\n").flatMap((line, index) => {
    const end = index ? ["\n"] : [];
    const quote = quoteOf.get(index + 1);
    return [...end, ...(quote ? leading(line, quote, onTurn) : [line])];
  });
}

/** One stop of the keyboard a line, however often the turn was cut. */
function leading(line, { thread, position }, onTurn) {
  const follow = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return; // a new tab or window
    event.preventDefault();
    onTurn(thread, position);
  };
  const link = (shown, first) =>
    h(
      "a",
      {
        class: "whole-turn",
        href: `/threads/${thread}/#turn-${position}`,
        title: gettext("Go to the whole turn"),
        "aria-label": (shown === CUT ? `${CUT} ` : "") + gettext("The whole of turn {position}", { position }),
        tabindex: first ? null : -1,
        onclick: follow,
      },
      shown,
    );
  const [begin, ...rest] = line.split(CUT);
  if (!rest.length)
    return [line.slice(0, -1), h("span", { class: "line-end" }, line.slice(-1), link(icon("go"), true))];
  return [begin, ...rest.flatMap((part, index) => [link(CUT, index === 0), part])];
}

function facts(snapshot) {
  const { provider, model, memory, fallback_for: other, fallback_text: why } = snapshot;
  const { usage, status, timings_ms: timings } = snapshot;
  const rows = [
    [gettext("Model"), `${model} (${provider})`],
    memory && [gettext("Memory"), memory.text],
    other && [gettext("In place of"), gettext("{other}, which {why}", { other, why })],
    usage?.input_tokens && [
      gettext("Reported by the model"),
      ngettext("{count} token in, {out} out", "{count} tokens in, {out} out", usage.input_tokens, {
        out: usage.output_tokens ?? 0,
      }),
    ],
    timings?.total !== undefined && [
      gettext("Built in"),
      gettext("{time} ms", { time: Math.max(1, Math.round(timings.total)) }),
    ],
    [gettext("State"), status],
  ].filter(Boolean);
  return h(
    "dl",
    { class: "facts" },
    ...rows.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
  );
}

function evidence(request) {
  return h(
    "p",
    {},
    h(
      "a",
      { href: `/admin/conversations/contextsnapshot/${request}/change/` },
      gettext("Open the exact request in the administration"),
    ),
  );
}
