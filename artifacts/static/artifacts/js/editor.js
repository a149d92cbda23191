/**
 * Editing an artifact by hand. What was typed is kept until it is saved or thrown away, whatever happens in between.
 */

import { h } from "../../conversations/js/dom.js";
import { gettext } from "../../conversations/js/language.js";
import { renderDifference } from "./difference.js";

export class Editor {
  /**
   * @param {Store} store
   * @param {{id: string, kind: string, content: string, base: number}} version `base` is the newest version that is
   *   known
   * @param {{
   *   onSave: (content: string, base: number) => Promise<void>,
   *   onLeave: () => void,
   *   onNewest: () => Promise<{content: string, version: number}>,
   * }} on
   */
  constructor(store, version, on) {
    this.store = store;
    this.on = on;
    this.version = version;
    this.base = version.base;
    this.key = `artifact:${version.id}`;
    const kept = store.read(this.key, null);
    this.text = h("textarea", {
      "aria-label": gettext("Content"),
      dir: "auto",
      spellcheck: version.kind === "document" ? null : "false",
      class: version.kind === "document" ? "" : "mono",
    });
    this.text.value = kept?.content ?? version.content;
    this.base = kept?.base ?? version.base;
    this.note = h("div", { class: "editor-note", role: "status", hidden: true });
    this.compared = h("div", { class: "editor-compared", hidden: true });
    this.save = h("button", { type: "submit", class: "button primary" }, gettext("Save as a new version"));
    this.element = h(
      "form",
      { class: "editor", autocomplete: "off" },
      this.note,
      this.compared,
      this.text,
      h(
        "div",
        { class: "editor-actions" },
        h("button", { type: "button", class: "button", onclick: () => this.#cancel() }, gettext("Cancel")),
        this.save,
      ),
    );
    if (kept) this.#say(gettext("What you had typed before is here again."));
    this.text.addEventListener("input", () => store.write(this.key, { content: this.text.value, base: this.base }));
    this.element.addEventListener("keydown", (event) => {
      if (event.key === "s" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        this.element.requestSubmit();
      }
    });
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#save();
    });
  }

  get changed() {
    return this.text.value !== this.version.content;
  }

  focus() {
    this.text.focus();
    this.text.setSelectionRange(0, 0);
    this.text.scrollTop = 0;
  }

  async #save() {
    if (this.save.disabled) return;
    this.save.disabled = true;
    try {
      await this.on.onSave(this.text.value, this.base);
      this.store.write(this.key, "");
    } catch (error) {
      if (error.code === "version_conflict") await this.#conflict(error);
      else this.#say(error.message, { warning: true });
    } finally {
      this.save.disabled = false;
    }
  }

  /** Somebody else was faster. The text stays; the reader looks at the newer version and then decides. */
  async #conflict({ message }) {
    const newest = await this.on.onNewest().catch(() => null);
    if (!newest) return this.#say(message, { warning: true });
    const look = h(
      "button",
      { type: "button", class: "button", "aria-expanded": "false", onclick: () => this.#compare(newest, look) },
      gettext("Compare with version {version}", { version: newest.version }),
    );
    this.#say(gettext(
      "Version {version} was saved meanwhile. What you typed is kept here.",
      { version: newest.version },
    ), {
      warning: true,
      action: look,
    });
    this.base = newest.version;
    this.save.textContent = gettext("Save mine as version {version}", { version: newest.version + 1 });
    this.store.write(this.key, { content: this.text.value, base: this.base });
    return look.focus();
  }

  #compare({ content }, button) {
    this.compared.hidden = !this.compared.hidden;
    button.setAttribute("aria-expanded", String(!this.compared.hidden));
    if (!this.compared.hidden) this.compared.replaceChildren(renderDifference(content, this.text.value));
  }

  #cancel() {
    this.store.write(this.key, "");
    this.on.onLeave();
  }

  #say(words, { warning = false, action = null } = {}) {
    this.note.replaceChildren(h("p", {}, words), ...(action ? [action] : []));
    this.note.classList.toggle("warning", warning);
    this.note.hidden = !words;
  }
}
