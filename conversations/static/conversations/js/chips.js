/** The files above the message box: what each is, how far it is, and what can be done with it. */

import { hasFailed } from "./attachments.js";
import { byId, h, icon, iconButton } from "./dom.js";
import { kindOf, looksLikePicture, namesOf, readingOf, sizeOf, unreadOf } from "./file-words.js";
import { gettext, errorText } from "./language.js";
import { hasPicture, thumbnail } from "./thumbnails.js";
import { unreadFold } from "./unread.js";

/** @typedef {import("./attachments.js").Attachment} Attachment */

export class Chips {
  /** @type {Map<string, Chip>} by key */
  #chips = new Map();

  /**
   * @param {import("./attachments.js").Attachments} attachments
   * @param {import("./announce.js").Announcer} announcer
   * @param {() => void} onEmptied the focus goes elsewhere
   */
  constructor(attachments, announcer, onEmptied) {
    this.attachments = attachments;
    this.announcer = announcer;
    this.onEmptied = onEmptied;
    this.list = byId("chips");
  }

  show() {
    const shown = new Set(this.attachments.shown.map(({ key }) => key));
    for (const [key, chip] of this.#chips) {
      if (shown.has(key)) continue;
      chip.element.remove();
      this.#chips.delete(key);
    }
    for (const attachment of this.attachments.shown) this.update(attachment);
    this.list.hidden = shown.size === 0;
  }

  /** @param {Attachment} attachment */
  update(attachment) {
    if (!this.attachments.shown.includes(attachment)) return;
    let chip = this.#chips.get(attachment.key);
    if (!chip) {
      chip = new Chip(attachment, {
        onRemove: () => this.#remove(attachment),
        onRetry: () => {
          this.#chips.get(attachment.key).focus();
          this.attachments.retry(attachment);
        },
        onSay: (words) => this.announcer.say(words),
      });
      this.#chips.set(attachment.key, chip);
      this.list.append(chip.element);
    }
    chip.update();
  }

  /** @param {Attachment[]} attachments */
  added(attachments) {
    if (attachments.length) this.announcer.say(
      gettext("Attached: {names}.", { names: namesOf(attachments.map(({ name }) => name)) }),
    );
    this.list.scrollTop = this.list.scrollHeight;
  }

  /** @param {Attachment} attachment */
  focus({ key }) {
    this.#chips.get(key)?.focus();
  }

  #remove(attachment) {
    const { shown } = this.attachments;
    const place = shown.indexOf(attachment);
    const next = shown[place + 1] ?? shown[place - 1];
    this.attachments.remove(attachment);
    this.announcer.say(gettext("Removed: “{name}”.", { name: attachment.name }));
    if (next) this.focus(next);
    else this.onEmptied();
  }
}

class Chip {
  #said = "";

  /**
   * @param {Attachment} attachment
   * @param {{onRemove: () => void, onRetry: () => void, onSay: (words: string) => void}} on
   */
  constructor(attachment, { onRemove, onRetry, onSay }) {
    this.attachment = attachment;
    this.onSay = onSay;
    this.picture = h("span", { class: "chip-picture" }, icon("file"));
    this.name = h("span", { class: "chip-name" });
    this.state = h("span", { class: "chip-state" });
    this.unread = h("span", { class: "chip-unread" });
    this.bar = h("progress", { class: "chip-bar", max: 1 });
    this.again = h("button", { type: "button", class: "chip-again", onclick: onRetry }, gettext("Try again"));
    this.close = iconButton("close", "", onRemove, { class: "icon-button chip-close" });
    this.element = h(
      "li",
      { class: "chip" },
      this.picture,
      h("span", { class: "chip-words" }, this.name, this.state, this.unread, this.bar),
      this.again,
      this.close,
    );
  }

  focus() {
    this.close.focus();
  }

  update() {
    const { name, state, share, info, file } = this.attachment;
    const failed = hasFailed(this.attachment);
    const words = wordsOf(this.attachment);
    this.name.textContent = name;
    this.name.title = name;
    this.state.textContent = words;
    this.element.classList.toggle("failed", failed || Boolean(info?.error));
    this.#showUnread(info ?? {});
    this.bar.hidden = state !== "sending";
    this.bar.value = share;
    this.bar.setAttribute("aria-label", gettext("Upload of {name}", { name }));
    this.again.hidden = !failed || !file || this.attachment.hopeless;
    const label = state === "sending"
      ? gettext("Cancel the upload of {name}", { name })
      : gettext("Remove {name}", { name });
    this.close.setAttribute("aria-label", label);
    this.close.title = label;
    this.#showPicture(failed || Boolean(info?.error));
    this.#announce(failed || state === "away", words);
  }

  /** @param {Row} info stays as it is where nothing changed: it may be unfolded */
  #showUnread(info) {
    const words = unreadOf(info);
    if (this.unread.dataset.words === words) return;
    this.unread.dataset.words = words;
    this.unread.replaceChildren(...[unreadFold(info)].filter(Boolean));
  }

  #showPicture(failed) {
    const { id, name, info } = this.attachment;
    const shown = failed ? "warn" : hasPicture(info) ? id : looksLikePicture(name) ? "kind-svg" : "file";
    if (this.picture.dataset.shown === shown) return;
    this.picture.dataset.shown = shown;
    this.picture.replaceChildren(shown === id ? thumbnail(id, "") : icon(shown));
  }

  /** What goes wrong and how it ends; no shares and no pages. */
  #announce(wrong, words) {
    const { name, file, info } = this.attachment;
    const isRead = file && info?.status === "ready";
    const missing = unreadOf(info ?? {});
    const read = gettext("“{name}” is read.", { name }) + (missing && ` ${missing}.`);
    const said = wrong ? `“${name}”: ${words}` : isRead ? read : "";
    if (said && said !== this.#said) this.onSay(said);
    this.#said = said;
  }
}

/** @param {Attachment} attachment @returns {string} */
function wordsOf({ state, size, problem, info }) {
  if (state === "refused") return problem;
  if (state === "waiting") return gettext("Waiting · {size}", { size: sizeOf(size) });
  if (state === "sending") return sizeOf(size);
  if (state === "away") return gettext("Waits for the connection");
  if (!info) return sizeOf(size);
  if (info.status === "gone") return gettext("It is no longer here. Add it again.");
  if (info.status === "failed") return info.error ? errorText(info.error) : gettext("It could not be read.");
  if (info.status === "reading") return `${readingOf(info)} · ${sizeOf(size)}`;
  return info.error?.message ?? `${kindOf(info)} · ${sizeOf(size)}`;
}
