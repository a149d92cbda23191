/** A file beside the conversation: its pages, tables or picture, and which of them the model was given for a reply. */

import { api } from "./api.js";
import { h, icon, iconButton } from "./dom.js";
import { allOf, kindOf, readingOf, sizeOf } from "./file-words.js";
import { markOf } from "./given.js";
import { PageList } from "./page-list.js";
import { Prose } from "./prose.js";
import { pictureOf } from "./thumbnails.js";
import { unreadFold } from "./unread.js";
import { clock, count, number } from "./words.js";
import { ZoomedPicture } from "./zoom.js";

const PARTS_A_PAGE = 200;
const ZOOMS = [1, 1.5, 2, 3];
const TABLES = new Set(["text/csv", "text/tab-separated-values"]); // beside workbooks
const LINES = { ArrowDown: 60, ArrowUp: -60 }; // pixels, wherever in the panel the focus is
const NEXT = new Set(["PageDown", "ArrowRight"]);
const BEFORE = new Set(["PageUp", "ArrowLeft"]);

/**
 * @typedef {import("./files.js").UploadedFile} UploadedFile
 * @typedef {{number: number, label: string, heading: string, page: number | null, tokens: number}} Part as
 *   `GET files/{id}/parts/` lists it
 * @typedef {import("./page-list.js").Page & {drawn?: number}} Page `drawn`: the page of a PDF that is shown as picture
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
  open(id, { name = this.files.get(id)?.name ?? "File", part = null, reply = null } = {}) {
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
      const words = error.status === 404 ? "This file is deleted." : error.message;
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
    this.sub = "Opening …";
    this.part = part;
    this.reply = reply;
    this.announcer = announcer;
    this.content = h("div", { class: "viewer" }, h("p", { class: "quiet panel-waiting" }, "Opening …"));
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
        "aria-label": "Download the file",
        title: "Download",
      },
      icon("download"),
    );
    if (info.status === "failed" || !this.#pages.length) {
      this.bar.replaceChildren(download);
      this.fail(info.error?.message ?? "Nothing of it is read yet.", null);
      this.content.append(...[unreadFold(info)].filter(Boolean));
      return;
    }
    if (info.kind === "image") this.#showPicture(download);
    else this.#showPages(download, panel.body);
    this.content.prepend(...noticesOf(info));
    this.#showGiven();
    if (this.part !== null) this.#goToPart();
    else panel.body.scrollTo({ top: 0, left: 0 });
  }

  fail(words, again) {
    this.content.replaceChildren(
      h(
        "div",
        { class: "turn-note warning" },
        icon("warn"),
        h("p", {}, words),
        again && h("button", { type: "button", class: "button", onclick: again }, "Try again"),
      ),
    );
  }

  #showPicture(download) {
    const picture = new ZoomedPicture(pictureOf(this.id), this.info.name, (scale) => {
      fit.textContent = `${number(Math.round(scale * 100))} %`;
    });
    const fit = h("button", { type: "button", class: "viewer-fit", title: "Fit", onclick: () => this.#fit() }, "100 %");
    fit.setAttribute("aria-description", "Shows the whole picture");
    this.#picture = picture;
    this.bar.replaceChildren(
      iconButton("minus", "Zoom out", () => this.#zoomOut()),
      fit,
      iconButton("plus", "Zoom in", () => this.#zoomIn()),
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
    const name = isDrawn || kind === "slides" ? nounOf(kind) : "Part";
    this.before = iconButton("before", `${name} before`, () => this.#turn(-1));
    this.next = iconButton("next", `Next ${name.toLowerCase()}`, () => this.#turn(1));
    this.bar.replaceChildren(
      this.before,
      h("label", { class: "visually-hidden", for: "viewer-page" }, name),
      this.number,
      h("span", { class: "viewer-of" }, `of ${number(list.length)}`),
      this.next,
      h("span", { class: "viewer-gap" }),
      ...(list.length > 1 ? [this.#contentsButton()] : []),
      ...(isDrawn ? this.#drawnButtons() : []),
      download,
    );
    this.contents = h("nav", { class: "viewer-contents", "aria-label": "Contents of the file", hidden: true });
    this.content.className = `viewer of-${TABLES.has(mediaType) ? "sheet" : kind}`;
    this.content.replaceChildren(this.contents, list.element);
    this.#showNumber();
  }

  #drawnButtons() {
    const text = iconButton("text", "Text of the pages", () => {
      const shown = this.content.classList.toggle("with-text");
      text.setAttribute("aria-pressed", String(shown));
      this.#list.resized();
      this.#list.go(this.#list.current);
    });
    text.setAttribute("aria-pressed", "false");
    return [
      iconButton("minus", "Zoom out", () => this.#zoomOut(), { class: "icon-button viewer-zoom" }),
      iconButton("plus", "Zoom in", () => this.#zoomIn(), { class: "icon-button viewer-zoom" }),
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
    if (!within) this.announcer.say(`${this.#pages[index].label} of ${length}`);
  }

  #jump() {
    const wanted = Number(this.number.value);
    if (Number.isInteger(wanted) && wanted >= 1 && wanted <= this.#list.length) this.#list.go(wanted - 1);
    else this.announcer.say(`There is no page ${this.number.value}. There are ${this.#list.length}.`);
    this.number.value = String(this.#list.current + 1);
  }

  #goToPart() {
    if (this.part === null || !this.#list) return;
    const index = this.#pages.findIndex(({ parts }) => parts.includes(this.part));
    if (index >= 0) this.#list.go(index, { focus: true });
  }

  #contentsButton() {
    const button = iconButton("list", "Contents", () => this.#toggleContents(button), { "aria-expanded": "false" });
    return button;
  }

  #toggleContents(button, open = this.contents.hidden) {
    this.contents.hidden = !open;
    button.setAttribute("aria-expanded", String(open));
    if (!open) return;
    const { current } = this.#list;
    const contents = contentsOf(this.#pages);
    const here = contents.findLastIndex(({ index }) => index <= current);
    const buttons = contents.map(({ index, words, place }, at) => {
      const go = () => {
        this.#toggleContents(button, false);
        this.#list.go(index, { focus: true });
      };
      return h(
        "button",
        { type: "button", class: "contents-entry", onclick: go, "aria-current": at === here && "true" },
        h("span", { class: "contents-words", dir: "auto" }, words),
        place && h("span", { class: "contents-place" }, place),
      );
    });
    this.contents.replaceChildren(h("ol", {}, ...buttons.map((each) => h("li", {}, each))));
    this.contents.onkeydown = (event) => this.#contentsKey(event, button);
    buttons[Math.max(0, here)].focus();
  }

  #contentsKey(event, button) {
    const buttons = [...this.contents.querySelectorAll("button")];
    const at = buttons.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement));
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (event.key === "Escape") {
      this.#toggleContents(button, false);
      button.focus();
    } else if (next !== undefined) buttons[Math.max(0, Math.min(next, buttons.length - 1))].focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
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
      h("option", { value: each.reply }, `${clock(each.created_at)} · ${each.question || "a message of files alone"}`),
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
      h("label", { for: "viewer-reply" }, "Given for reply to"),
      select,
      h("span", { class: "viewer-sum" }, sumOf(marks, this.info ?? {})),
    );
    if (focused) select.focus();
  }
}

/** What is missing of it. */
function noticesOf(info) {
  const problem = info.error && h("p", { class: "viewer-problem" }, icon("warn"), info.error.message);
  return [problem, unreadFold(info)].filter(Boolean);
}

/** @param {import("./given.js").Mark[]} marks @param {Row} info */
function sumOf(marks, info) {
  const { kind } = info;
  if (kind === "image") return marks[0]?.words.replace("Given for this reply", "Given") ?? "";
  const given = marks.filter(({ state }) => state === "given" || state === "partly").length;
  const noun = kind === "pdf" || kind === "slides" ? nounOf(kind).toLowerCase() : "part";
  return given === marks.length ? allOf(info) : `${number(given)} of ${count(marks.length, noun)}`;
}

function nounOf(kind) {
  return kind === "slides" ? "Slide" : "Page";
}

function subOf(info) {
  return info.status === "reading" ? readingOf(info) : `${kindOf(info)} · ${sizeOf(info.bytes)}`;
}

/** @returns {Promise<Part[]>} */
async function allParts(id) {
  const parts = [];
  for (let address = `files/${id}/parts/?page_size=${PARTS_A_PAGE}`; address; ) {
    const page = await api.get(address);
    parts.push(...page.results);
    address = page.next;
  }
  return parts;
}

/**
 * Each page of a PDF once, whether it is read or not; of others each part.
 * @param {Row} info
 * @param {Part[]} parts
 * @returns {Page[]}
 */
function pagesOf({ kind, pages }, parts) {
  if (kind !== "pdf" || !pages) {
    return parts.map(({ number: part, label, heading, tokens }) => ({ label, heading, tokens, parts: [part] }));
  }
  const of = Map.groupBy(parts, ({ page }) => page);
  return Array.from({ length: pages }, (_, index) => {
    const own = of.get(index + 1) ?? [];
    return {
      drawn: index + 1,
      label: `page ${index + 1}`,
      heading: own[0]?.heading ?? "",
      tokens: 0,
      parts: own.map(({ number: part }) => part),
    };
  });
}

/** Where each heading begins; where there are none, all pages. @param {Page[]} pages */
function contentsOf(pages) {
  const isNew = (page, index) => page.heading && page.heading !== pages[index - 1]?.heading;
  const places = pages.map((page, index) => ({ page, index }));
  const headed = places.filter(({ page, index }) => isNew(page, index));
  return headed.length > 1
    ? headed.map(({ page, index }) => ({
        index,
        words: page.heading,
        place: page.label.includes(page.heading) ? "" : page.label,
      }))
    : places.map(({ page, index }) => ({ index, words: page.label, place: "" }));
}

/**
 * @param {string} id
 * @param {Page} page
 * @param {(ratio: string) => void} onRatio so that those to come have their place already
 */
function drawnPage(id, { drawn, label }, onRatio) {
  const frame = h("div", { class: "page-drawn" });
  const src = `/api/v1/files/${id}/pages/${drawn}/`;
  const picture = h("img", { src, alt: `${label}, as a picture`, decoding: "async" });
  picture.addEventListener("load", () => {
    frame.style.aspectRatio = `${picture.naturalWidth} / ${picture.naturalHeight}`;
    onRatio(frame.style.aspectRatio);
  });
  picture.addEventListener("error", () => {
    frame.replaceChildren(h("p", { class: "page-problem" }, icon("warn"), "This page can’t be shown as a picture."));
    frame.classList.add("undrawn");
  });
  frame.append(picture);
  return frame;
}

function proseOf(text) {
  const element = h("div", { class: "prose page-prose", dir: "auto" });
  new Prose(element).finish(text);
  return element;
}
