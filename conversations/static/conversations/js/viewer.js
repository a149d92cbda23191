/** A file beside the conversation: its pages, tables or picture, and which of them the model was given for a reply. */

import { api } from "./api.js";
import { Contents } from "./contents.js";
import { h, icon, iconButton } from "./dom.js";
import { allParts, drawnPage, pagesOf, proseOf } from "./file-pages.js";
import { allOf, kindOf, readingOf, sizeOf } from "./file-words.js";
import { markOf } from "./given.js";
import { gettext, ngettext, errorText } from "./language.js";
import { PageList } from "./page-list.js";
import { pictureOf } from "./thumbnails.js";
import { unreadFold } from "./unread.js";
import { clock, number } from "./words.js";
import { ZoomedPicture } from "./zoom.js";

const ZOOMS = [1, 1.5, 2, 3];
const TABLES = new Set(["text/csv", "text/tab-separated-values"]); // beside workbooks
const LINES = { ArrowDown: 60, ArrowUp: -60 }; // pixels, wherever in the panel the focus is
const NEXT = new Set(["PageDown", "ArrowRight"]);
const BEFORE = new Set(["PageUp", "ArrowLeft"]);

/**
 * @typedef {import("./files.js").UploadedFile} UploadedFile
 * @typedef {import("./file-pages.js").Part} Part
 * @typedef {import("./file-pages.js").Page} Page
 */

export class Viewer {
  /** @type {Shown | null} */
  #shown = null;

  /**
   * @param {import("../../artifacts/js/panel.js").Panel} panel
   * @param {import("./files.js").Files} files
   * @param {import("./announce.js").Announcer} announcer
   */
  constructor(panel, files, announcer) {
    this.panel = panel;
    this.files = files;
    this.announcer = announcer;
  }

  /**
   * @param {string} id
   * @param {{name?: string, part?: number | null, reply?: string | null}} [options] `part` to begin at, and the `reply`
   *   whose parts are marked
   */
  open(id, { name = this.files.get(id)?.name ?? gettext("File"), part = null, reply = null } = {}) {
    if (this.#shown?.id === id && this.panel.guest === this.#shown) {
      this.#shown.go({ part, reply });
      return;
    }
    const shown = new Shown(id, name, { part, reply }, this.announcer);
    this.#shown = shown;
    this.panel.showGuest(shown);
    this.#load(shown);
  }

  /** @param {Shown} shown */
  async #load(shown) {
    try {
      const info = await api.get(`files/${shown.id}/`);
      this.files.put(info);
      const [parts, { replies }] = await Promise.all([allParts(shown.id), api.get(`files/${shown.id}/given/`)]);
      if (this.panel.guest !== shown) return;
      shown.show(info, parts, replies, this.panel);
      if (info.status === "reading") this.#awaitReading(shown);
    } catch (error) {
      if (this.panel.guest !== shown) return;
      const words = error.status === 404 ? gettext("This file is deleted.") : error.message;
      shown.fail(words, error.status === 404 ? null : () => this.#load(shown));
    }
  }

  #awaitReading(shown) {
    const stop = this.files.watch(shown.id, (info) => {
      if (this.panel.guest !== shown) stop();
      else if (info.status === "reading") this.panel.headGuest(shown, { sub: readingOf(info) });
      else this.#load(shown);
    });
  }
}

/** One file in the panel. It fulfils what the panel calls a guest. */
class Shown {
  /** @type {PageList | null} */
  #list = null;
  /** @type {ZoomedPicture | null} */
  #picture = null;
  /** @type {import("./given.js").GivenReply[]} */
  #replies = [];
  /** @type {Page[]} */
  #pages = [];
  #zoom = 0;

  constructor(id, name, { part, reply }, announcer) {
    this.id = id;
    this.title = name;
    this.sub = gettext("Opening …");
    this.part = part;
    this.reply = reply;
    this.announcer = announcer;
    this.content = h("div", { class: "viewer" }, h("p", { class: "quiet panel-waiting" }, gettext("Opening …")));
    this.bar = h("div", { class: "viewer-bar" });
    this.given = h("div", { class: "viewer-given", hidden: true });
    this.tools = [this.bar, this.given];
  }

  // What the panel asks of it

  leave() {
    this.#list?.close();
  }

  /** @param {KeyboardEvent} event @returns {boolean} whether it was meant for it */
  key(event) {
    const { key, ctrlKey, metaKey, altKey } = event;
    const target = /** @type {Element} */ (event.target);
    if (ctrlKey || metaKey || altKey || target.matches("input, select, textarea")) return false;
    if (key === "+" || key === "=") this.#zoomIn();
    else if (key === "-") this.#zoomOut();
    else if (key === "0") this.#fit();
    else if (this.#picture) return this.#picture.scale > 1 && this.#picture.key(key);
    else if (NEXT.has(key) && !this.#scrollsSideways(key)) this.#turn(1);
    else if (BEFORE.has(key) && !this.#scrollsSideways(key)) this.#turn(-1);
    else if (key === "Home") this.#list?.go(0);
    else if (key === "End") this.#list?.go(this.#list.length - 1);
    else if (LINES[key]) this.content.parentElement.scrollBy({ top: LINES[key] });
    else return false;
    return true;
  }

  /** Another part of it, or another reply. */
  go({ part, reply }) {
    this.part = part;
    if (reply && this.#replies.some((each) => each.reply === reply)) this.#choose(reply);
    else this.reply = reply ?? this.reply;
    this.#goToPart();
  }

  // What is shown

  /**
   * @param {UploadedFile} info
   * @param {Part[]} parts
   * @param {import("./given.js").GivenReply[]} replies newest first
   * @param {import("../../artifacts/js/panel.js").Panel} panel
   */
  show(info, parts, replies, panel) {
    this.info = info;
    this.#replies = replies;
    this.#list?.close();
    panel.headGuest(this, { title: info.name, sub: subOf(info) });
    this.#pages = pagesOf(info, parts);
    const download = h(
      "a",
      {
        class: "icon-button",
        href: `/api/v1/files/${this.id}/content/`,
        download: "",
        "aria-label": gettext("Download the file"),
        title: gettext("Download"),
      },
      icon("download"),
    );
    if (info.status === "failed" || !this.#pages.length) {
      this.bar.replaceChildren(download);
      this.fail(info.error ? errorText(info.error) : gettext("Nothing of it is read yet."), null);
      this.content.append(...[unreadFold(info)].filter(Boolean));
      return;
    }
    if (info.kind === "image") this.#showPicture(download);
    else this.#showPages(download, panel.frame.body);
    this.content.prepend(...noticesOf(info));
    this.#showGiven();
    if (this.part !== null) this.#goToPart();
    else panel.frame.body.scrollTo({ top: 0, left: 0 });
  }

  fail(words, again) {
    this.content.replaceChildren(
      h(
        "div",
        { class: "turn-note warning" },
        icon("warn"),
        h("p", {}, words),
        again && h("button", { type: "button", class: "button", onclick: again }, gettext("Try again")),
      ),
    );
  }

  #showPicture(download) {
    const picture = new ZoomedPicture(pictureOf(this.id), this.info.name, (scale) => {
      fit.textContent = `${number(Math.round(scale * 100))} %`;
    });
    const fit = h(
      "button",
      { type: "button", class: "viewer-fit", title: gettext("Fit"), onclick: () => this.#fit() },
      "100 %",
    );
    fit.setAttribute("aria-description", gettext("Shows the whole picture"));
    this.#picture = picture;
    this.bar.replaceChildren(
      iconButton("minus", gettext("Zoom out"), () => this.#zoomOut()),
      fit,
      iconButton("plus", gettext("Zoom in"), () => this.#zoomIn()),
      h("span", { class: "viewer-gap" }),
      download,
    );
    this.content.className = "viewer of-picture";
    this.content.replaceChildren(picture.element);
  }

  #showPages(download, scroller) {
    const { kind, media_type: mediaType } = this.info;
    const list = new PageList(
      scroller,
      this.#pages,
      (page, body) => this.#fill(/** @type {Page} */ (page), body),
      () => this.#showNumber(),
    );
    this.#list = list;
    const contents = new Contents(this.#pages, list);
    const isDrawn = kind === "pdf";
    this.number = h("input", {
      id: "viewer-page",
      class: "viewer-number",
      inputmode: "numeric",
      autocomplete: "off",
      size: 4,
      onchange: () => this.#jump(),
      onfocus: () => this.number.select(),
    });
    const name = isDrawn || kind === "slides" ? nounOf(kind) : gettext("Part");
    this.before = iconButton("before", gettext("Before: {name}", { name }), () => this.#turn(-1));
    this.next = iconButton(
      "next",
      gettext("Next: {name}", { name }),
      () => this.#turn(1),
    );
    this.bar.replaceChildren(
      this.before,
      h("label", { class: "visually-hidden", for: "viewer-page" }, name),
      this.number,
      h("span", { class: "viewer-of" }, gettext("of {count}", { count: list.length })),
      this.next,
      h("span", { class: "viewer-gap" }),
      ...(list.length > 1 ? [contents.button] : []),
      ...(isDrawn ? this.#drawnButtons() : []),
      download,
    );
    this.content.className = `viewer of-${TABLES.has(mediaType) ? "sheet" : kind}`;
    this.content.replaceChildren(contents.element, list.element);
    this.#showNumber();
  }

  #drawnButtons() {
    const text = iconButton("text", gettext("Text of the pages"), () => {
      const shown = this.content.classList.toggle("with-text");
      text.setAttribute("aria-pressed", String(shown));
      this.#list.resized();
      this.#list.go(this.#list.current);
    });
    text.setAttribute("aria-pressed", "false");
    return [
      iconButton("minus", gettext("Zoom out"), () => this.#zoomOut(), { class: "icon-button viewer-zoom" }),
      iconButton("plus", gettext("Zoom in"), () => this.#zoomIn(), { class: "icon-button viewer-zoom" }),
      text,
    ];
  }

  /** A page of a PDF as its picture, with its text; of others their text. */
  async #fill(page, body) {
    if (page.drawn) {
      const keepRatio = (ratio) => this.content.style.setProperty("--page-ratio", ratio);
      body.append(drawnPage(this.id, page, keepRatio));
    }
    const texts = await Promise.all(page.parts.map((part) => api.get(`files/${this.id}/parts/${part}/`)));
    const isPlain = this.info.media_type === "text/plain";
    const shown = texts.map(({ text, number: part, picture }) => [
      picture && !page.drawn && h("img", { class: "page-picture", src: pictureOf(this.id, part), alt: "" }),
      text && (isPlain ? h("div", { class: "page-plain", dir: "auto" }, text) : proseOf(text)),
    ]);
    const said = shown.flat().filter(Boolean);
    const frame = body.querySelector(".page-drawn");
    if (frame && said.length) frame.querySelector("img")?.setAttribute("alt", "");
    body.append(page.drawn ? h("div", { class: "page-text" }, ...said) : h("div", { class: "page-content" }, ...said));
  }

  // Where the reader is

  #showNumber() {
    const { current, length } = this.#list;
    if (document.activeElement !== this.number) this.number.value = String(current + 1);
    this.before.disabled = current === 0;
    this.next.disabled = current === length - 1;
  }

  #turn(by) {
    const { current, length } = this.#list ?? { current: 0, length: 0 };
    const index = current + by;
    if (index < 0 || index >= length) return;
    const within = document.activeElement?.closest(".page");
    this.#list.go(index, { focus: Boolean(within) });
    if (!within) this.announcer.say(gettext("{label} of {count}", { label: this.#pages[index].label, count: length }));
  }

  #jump() {
    const wanted = Number(this.number.value);
    if (Number.isInteger(wanted) && wanted >= 1 && wanted <= this.#list.length) this.#list.go(wanted - 1);
    else this.announcer.say(
      gettext("There is no page {page}. There are {count}.", { page: this.number.value, count: this.#list.length }),
    );
    this.number.value = String(this.#list.current + 1);
  }

  #goToPart() {
    if (this.part === null || !this.#list) return;
    const index = this.#pages.findIndex(({ parts }) => parts.includes(this.part));
    if (index >= 0) this.#list.go(index, { focus: true });
  }

  // How large it is

  #zoomIn() {
    if (this.#picture) this.#picture.in();
    else this.#widen(this.#zoom + 1);
  }

  #zoomOut() {
    if (this.#picture) this.#picture.out();
    else this.#widen(this.#zoom - 1);
  }

  #fit() {
    if (this.#picture) this.#picture.fit();
    else this.#widen(0);
  }

  /** Pages of a PDF; the one that is read stays. */
  #widen(step) {
    if (this.info?.kind !== "pdf") return;
    this.#zoom = Math.max(0, Math.min(step, ZOOMS.length - 1));
    const { current } = this.#list;
    this.content.style.setProperty("--zoom", String(ZOOMS[this.#zoom]));
    this.#list.resized();
    this.#list.go(current);
  }

  #scrollsSideways(key) {
    const scroller = this.content.parentElement;
    return key.startsWith("Arrow") && scroller.scrollWidth > scroller.clientWidth + 1;
  }

  // What the model was given

  /** For the reply that was asked for, else the newest. */
  #showGiven() {
    const known = this.#replies.some(({ reply }) => reply === this.reply);
    if (this.#replies.length) this.#choose(known ? this.reply : this.#replies[0].reply);
  }

  #choose(reply) {
    this.reply = reply;
    const marks = this.#pages.map(({ parts }) => markOf(parts, this.#replies, reply));
    this.#list?.showMarks((page) => marks[this.#pages.indexOf(/** @type {Page} */ (page))]);
    const options = this.#replies.map((each) =>
      h(
        "option",
        { value: each.reply },
        `${clock(each.created_at)} · ${each.question || gettext("a message of files alone")}`,
      ),
    );
    const select = h(
      "select",
      { id: "viewer-reply", onchange: () => this.#choose(select.value) },
      ...options,
    );
    select.value = reply;
    const focused = document.activeElement?.id === "viewer-reply";
    this.given.hidden = false;
    this.given.replaceChildren(
      h("label", { for: "viewer-reply" }, gettext("Given for reply to")),
      select,
      h("span", { class: "viewer-sum" }, sumOf(marks, this.info ?? {})),
    );
    if (focused) select.focus();
  }
}

/** What is missing of it. */
function noticesOf(info) {
  const problem = info.error && h("p", { class: "viewer-problem" }, icon("warn"), errorText(info.error));
  return [problem, unreadFold(info)].filter(Boolean);
}

/** @param {import("./given.js").Mark[]} marks @param {Row} info */
function sumOf(marks, info) {
  const { kind } = info;
  if (kind === "image") return marks[0]?.words ?? "";
  const given = marks.filter(({ state }) => state === "given" || state === "partly").length;
  return given === marks.length ? allOf(info) : (GIVEN_OF[kind] ?? partsGiven)(given, marks.length);
}

const GIVEN_OF = {
  pdf: (given, of) => ngettext("{given} of {count} page", "{given} of {count} pages", of, { given }),
  slides: (given, of) => ngettext("{given} of {count} slide", "{given} of {count} slides", of, { given }),
};
const partsGiven = (given, of) => ngettext("{given} of {count} part", "{given} of {count} parts", of, { given });

function nounOf(kind) {
  return kind === "slides" ? gettext("Slide") : gettext("Page");
}

function subOf(info) {
  return info.status === "reading" ? readingOf(info) : `${kindOf(info)} · ${sizeOf(info.bytes)}`;
}
