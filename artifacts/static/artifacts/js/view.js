/** One version of an artifact, as its kind is best seen. */

import { dressCode } from "../../conversations/js/code.js";
import { h } from "../../conversations/js/dom.js";
import { gettext } from "../../conversations/js/language.js";
import { Prose } from "../../conversations/js/prose.js";
import { pictureOf } from "./drawing.js";
import { renderPage } from "./page.js";
import { csvRows, isMarkdown } from "./tables.js";

const DRAWN = ["html", "svg", "mermaid"];
/** Of what is written right now, and of what has no language. */
const LANGUAGE = { html: "html", svg: "xml", mermaid: "mermaid", table: "csv" };
/** Above this, rendering it again with each piece would hold up the page. */
const LONGEST_RENDERED_LIVE = 40_000;
const MOST_ROWS = 1000;

/** Its source is not what is best seen. */
export function isDrawn(kind) {
  return DRAWN.includes(kind);
}

/** @param {{id: string, title: string, kind: string, language: string, number: number, content: string}} version */
export function renderVersion(version) {
  if (version.kind === "mermaid") return diagram(version);
  if (isDrawn(version.kind)) return renderPage(version);
  if (version.kind === "code") return source(version);
  if (version.kind === "table" && !isMarkdown(version.content)) return table(version.content);
  return prose(version.content);
}

/** The source, coloured where the language is known. */
export function source({ kind, language, content }) {
  const code = h("code", { class: `language-${language || LANGUAGE[kind] || "text"}` }, content);
  const root = h("div", { class: "artifact-code" }, h("pre", {}, code));
  dressCode(root, { growing: false });
  return root;
}

function prose(content) {
  const element = h("div", { class: "prose artifact-prose", dir: "auto" });
  new Prose(element).finish(content);
  return element;
}

function diagram(version) {
  const root = h(
    "div",
    { class: "artifact-diagram", "aria-busy": "true" },
    h("p", { class: "quiet" }, gettext("Drawing …")),
  );
  pictureOf(version.content, gettext("Diagram “{title}”", { title: version.title }))
    .catch((error) => notDrawn(version, error.message))
    .then((shown) => {
      root.replaceChildren(shown);
      root.removeAttribute("aria-busy");
    });
  return root;
}

function notDrawn(version, why) {
  return h(
    "section",
    { class: "not-drawn", role: "alert" },
    h("h3", {}, gettext("This diagram can’t be drawn.")),
    h("p", {}, gettext("Its text is not what Mermaid understands. Edit it, or ask for a correction.")),
    h("pre", { class: "why" }, why),
    source(version),
  );
}

function table(content) {
  const rows = csvRows(content);
  const [head, ...body] = rows.map((row) => row.map((cell) => cell.trim()));
  const numeric = head.map(
    (_, column) => body.length > 0 && body.every((row) => /^[-+]?[\d.,\s%€$£]*$/.test(row[column] ?? "")),
  );
  const cells = (row, tag) =>
    row.map((cell, column) => h(tag, { align: numeric[column] && "right", scope: tag === "th" && "col" }, cell));
  return h(
    "div",
    { class: "prose artifact-prose" },
    h(
      "div",
      { class: "table", tabindex: 0, role: "region", "aria-label": gettext("Table") },
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, ...cells(head, "th"))),
        h("tbody", {}, ...body.slice(0, MOST_ROWS).map((row) => h("tr", {}, ...cells(row, "td")))),
      ),
    ),
    body.length > MOST_ROWS &&
      h(
        "p",
        { class: "quiet" },
        gettext("The first {shown} of {count} rows. Download it to see all.", { shown: MOST_ROWS, count: body.length }),
      ),
  );
}

/** An artifact that is being written: its text grows at the end. */
export class Growing {
  #prose = null;
  #text = null;

  constructor(kind) {
    const rendered = kind === "document" || kind === "table";
    this.element = h("div", {
      class: rendered ? "prose artifact-prose growing" : "artifact-code growing",
      "aria-busy": "true",
      dir: rendered && "auto",
    });
    if (rendered) {
      this.#prose = new Prose(this.element);
    } else {
      this.#text = h("code", {});
      this.element.append(h("pre", { tabindex: 0 }, this.#text));
    }
  }

  show(content, onShown = () => {}) {
    if (this.#prose && content.length < LONGEST_RENDERED_LIVE) this.#prose.grow(content, onShown);
    else if (this.#text) {
      const known = this.#text.firstChild?.length ?? 0;
      if (known) this.#text.firstChild.appendData(content.slice(known));
      else this.#text.textContent = content;
      onShown();
    }
  }
}
