/** The files of a turn: pictures as thumbnails, others as cards. Each opens the file beside the conversation. */

import { byId, h, icon } from "./dom.js";
import { kindOf, looksLikePicture, readingOf, sizeOf, unreadOf } from "./file-words.js";
import { gettext } from "./language.js";
import { hasFirstPage, hasPicture, thumbnail } from "./thumbnails.js";

/**
 * @param {Row[]} content blocks of a turn
 * @param {import("./files.js").Files} files
 * @param {(id: string, options: {name: string}) => void} onOpen
 * @returns {HTMLElement | null}
 */
export function fileCards(content, files, onOpen) {
  const blocks = content.filter(({ type }) => type === "file");
  if (!blocks.length) return null;
  const near = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        near.unobserve(target);
        const card = cards.get(/** @type {HTMLLIElement} */ (target));
        files.watch(card.id, (info) => card.update(info));
      }
    },
    { root: byId("scroller"), rootMargin: "600px 0px" },
  );
  const cards = new Map(
    blocks.map(({ file, name }) => {
      const card = new FileCard(file, name || files.get(file)?.name || gettext("File"), onOpen);
      return [card.element, card];
    }),
  );
  for (const element of cards.keys()) near.observe(element);
  return h("ul", { class: "turn-files", "aria-label": gettext("Files") }, ...cards.keys());
}

class FileCard {
  constructor(id, name, onOpen) {
    this.id = id;
    this.name = h("span", { class: "file-name", title: name }, name);
    this.state = h("span", { class: "file-state" }, "…");
    this.picture = h("span", { class: "file-picture" }, icon(looksLikePicture(name) ? "kind-svg" : "file"));
    this.unread = h("span", { class: "file-unread", hidden: true });
    this.words = h("span", { class: "file-words" }, this.name, this.state, this.unread);
    this.open = () => onOpen(id, { name: this.name.textContent });
    this.button = h("button", { type: "button", class: "file-card", title: gettext("Open beside the conversation") });
    this.button.addEventListener("click", this.open);
    this.button.append(this.picture, this.words);
    this.element = h("li", {}, this.button);
  }

  /** @param {import("./files.js").UploadedFile} info */
  update(info) {
    const name = info.name || this.name.textContent;
    this.name.textContent = name;
    this.name.title = name;
    if (hasPicture(info)) this.#showPicture(name);
    else if (info.status === "gone") this.#showGone();
    else this.state.textContent = stateOf(info);
    this.unread.textContent = unreadOf(info);
    this.unread.hidden = !this.unread.textContent;
    if (hasFirstPage(info) && !this.picture.querySelector("img")) this.#showFirstPage();
  }

  #showPicture(name) {
    const picture = thumbnail(this.id, name);
    const button = h("button", { type: "button", class: "file-thumbnail", onclick: this.open }, picture);
    picture.addEventListener("error", () => button.replaceWith(this.button));
    this.state.textContent = gettext("Picture");
    this.element.replaceChildren(button);
  }

  #showFirstPage() {
    const sign = this.picture.firstChild;
    const picture = thumbnail(this.id, "");
    picture.addEventListener("error", () => this.picture.replaceChildren(sign));
    this.picture.replaceChildren(picture);
  }

  #showGone() {
    this.state.textContent = gettext("Deleted");
    this.element.replaceChildren(h("span", { class: "file-card gone" }, this.picture, this.words));
  }
}

function stateOf(info) {
  if (info.status === "reading") return readingOf(info);
  return info.error?.message ?? `${kindOf(info)} · ${sizeOf(info.bytes)}`;
}
