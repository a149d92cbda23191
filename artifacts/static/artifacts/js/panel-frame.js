/** The frame of the panel: its head, its notice, and what of it, and beside it, is there to be used. */

import { byId, h, icon } from "../../conversations/js/dom.js";
import { gettext } from "../../conversations/js/language.js";

export class PanelFrame {
  constructor() {
    this.element = byId("panel");
    this.title = byId("panel-title");
    this.sub = byId("panel-sub");
    this.tools = byId("panel-tools");
    this.guestTools = byId("guest-tools");
    this.select = byId("panel-version");
    this.notice = byId("panel-notice");
    this.body = byId("panel-body");
    this.narrow = matchMedia("(max-width: 759px)");
  }

  get isFull() {
    return this.element.classList.contains("full");
  }

  /**
   * What is visible in this mode, and what the sheet on a phone covers.
   * @param {string} mode
   * @param {boolean} isDrawn what is shown is a picture or a page
   */
  arrange(mode, isDrawn) {
    const isOpen = mode !== "closed";
    const sheet = isOpen && (this.narrow.matches || this.isFull);
    this.element.hidden = !isOpen;
    document.querySelector(".shell").classList.toggle("with-panel", isOpen);
    byId("artifacts").setAttribute("aria-expanded", String(isOpen && mode !== "guest"));
    byId("panel-scrim").hidden = !(isOpen && this.narrow.matches);
    byId("conversation").inert = sheet;
    byId("sidebar").inert = sheet || (this.narrow.matches && !byId("sidebar").classList.contains("open"));
    this.tools.hidden = !["artifact", "changes"].includes(mode);
    this.guestTools.hidden = mode !== "guest";
    this.body.classList.toggle("guest", mode === "guest");
    byId("panel-list").hidden = mode === "list" || mode === "guest";
    byId("panel-changes").setAttribute("aria-pressed", String(mode === "changes"));
    this.body.classList.toggle("framed", mode === "artifact" && isDrawn);
    this.body.classList.toggle("editing", mode === "edit");
  }

  setFull(full) {
    this.element.classList.toggle("full", full);
    const button = byId("panel-full");
    button.setAttribute("aria-pressed", String(full));
    button.title = full ? gettext("Leave full screen") : gettext("Full screen");
    button.setAttribute("aria-label", button.title);
  }

  head(title, sub) {
    if (this.title.textContent !== title) this.title.textContent = title;
    if (this.sub.textContent !== sub) this.sub.textContent = sub;
  }

  /** @param {{words: string, action?: string, run?: () => void, warning?: boolean} | null} notice */
  say(notice) {
    this.notice.hidden = !notice;
    if (!notice) return this.notice.replaceChildren();
    const action =
      notice.action && h("button", { type: "button", class: "button small", onclick: notice.run }, notice.action);
    this.notice.classList.toggle("warning", Boolean(notice.warning));
    return this.notice.replaceChildren(h("p", {}, notice.words), ...(action ? [action] : []));
  }

  /** @param {string} words until there is more */
  wait(words) {
    this.body.replaceChildren(h("p", { class: "quiet panel-waiting" }, words));
  }

  /** @returns {() => void} keeps the end in view for who sees it now */
  follower() {
    const { scrollHeight, scrollTop, clientHeight } = this.body;
    const isAtEnd = scrollHeight - scrollTop - clientHeight < 64;
    return () => isAtEnd && this.body.scrollTo({ top: this.body.scrollHeight });
  }

  failed(error, again) {
    this.body.replaceChildren(
      h(
        "div",
        { class: "turn-note warning" },
        icon("warn"),
        h("p", {}, error.message),
        h("button", { type: "button", class: "button", onclick: again }, gettext("Try again")),
      ),
    );
  }
}
