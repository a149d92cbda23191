/** The files of a turn: pictures as thumbnails, others as cards that lead to the file. */

import { byId, h, icon } from "./dom.js";
import { kindOf, looksLikePicture, readingOf, sizeOf } from "./file-words.js";
import { hasPicture, pictureOf, thumbnail } from "./thumbnails.js";

/**
 * @param {Row[]} content blocks of a turn
 * @param {import("./files.js").Files} files
 * @returns {HTMLElement | null}
 */
export function fileCards(content, files) {
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
      const card = new FileCard(file, name || files.get(file)?.name || "File");
      return [card.element, card];
    }),
  );
  for (const element of cards.keys()) near.observe(element);
  return h("ul", { class: "turn-files", "aria-label": "Files" }, ...cards.keys());
}

class FileCard {
  constructor(id, name) {
    this.id = id;
    this.name = h("span", { class: "file-name", title: name }, name);
    this.state = h("span", { class: "file-state" }, "…");
    this.picture = h("span", { class: "file-picture" }, icon(looksLikePicture(name) ? "kind-svg" : "file"));
    this.words = h("span", { class: "file-words" }, this.name, this.state);
    this.link = h("a", { class: "file-card", href: `/api/v1/files/${id}/content/`, download: "" });
    this.link.append(this.picture, this.words);
    this.element = h("li", {}, this.link);
  }

  /** @param {import("./files.js").UploadedFile} info */
  update(info) {
    const name = info.name || this.name.textContent;
    this.name.textContent = name;
    this.name.title = name;
    if (hasPicture(info)) this.#showPicture(name);
    else if (info.status === "gone") this.#showGone();
    else this.state.textContent = stateOf(info);
  }

  #showPicture(name) {
    const picture = thumbnail(this.id, name);
    const inTab = { href: pictureOf(this.id), target: "_blank", rel: "noopener" };
    const link = h("a", { class: "file-thumbnail", ...inTab }, picture);
    picture.addEventListener("error", () => link.replaceWith(this.link));
    this.state.textContent = "Picture";
    this.element.replaceChildren(link);
  }

  #showGone() {
    this.state.textContent = "Deleted";
    this.element.replaceChildren(h("span", { class: "file-card gone" }, this.picture, this.words));
  }
}

function stateOf(info) {
  if (info.status === "reading") return readingOf(info);
  return info.error?.message ?? `${kindOf(info)} · ${sizeOf(info.bytes)}`;
}
