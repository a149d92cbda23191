/**
 * The panel beside the conversation: one artifact in one of its versions, the list of all, or a guest such as a file. A
 * sheet on phones.
 *
 * @typedef {object} Guest
 * @property {string} title
 * @property {string} sub
 * @property {HTMLElement[]} tools
 * @property {HTMLElement} content
 * @property {(event: KeyboardEvent) => boolean} key whether it did something
 * @property {() => void} leave
 */

import { copyFrom, byId, h, icon } from "../../conversations/js/dom.js";
import { openMenu } from "../../conversations/js/dialogs.js";
import { gettext } from "../../conversations/js/language.js";
import { renderDifference } from "./difference.js";
import { download } from "./download.js";
import { Editor } from "./editor.js";
import { downloadsOf, kindOf, versionLine } from "./naming.js";
import { Growing, isDrawn, renderVersion, source } from "./view.js";

export class Panel {
  #shown = null; // {id, number, version, versions} of the artifact
  #draft = null;
  #growing = null;
  #editor = null;
  #opener = null;
  #asked = 0;
  mode = "closed"; // closed, list, artifact, changes, edit, draft, guest
  /** @type {Guest | null} */
  guest = null;
  /** @type {((artifact: Row, number: number) => void) | null} null: nothing can be shared */
  onShare = null;

  /**
   * @param {import("./shelf.js").Shelf} shelf
   * @param {Store} store
   * @param {import("../../conversations/js/announce.js").Announcer} announcer
   */
  constructor(shelf, store, announcer) {
    this.shelf = shelf;
    this.store = store;
    this.announcer = announcer;
    this.element = byId("panel");
    this.title = byId("panel-title");
    this.sub = byId("panel-sub");
    this.tools = byId("panel-tools");
    this.guestTools = byId("guest-tools");
    this.select = byId("panel-version");
    this.notice = byId("panel-notice");
    this.body = byId("panel-body");
    this.narrow = matchMedia("(max-width: 759px)");
    this.#wire();
  }

  get isOpen() {
    return this.mode !== "closed";
  }

  get showsArtifacts() {
    return this.isOpen && this.mode !== "guest";
  }

  get shownId() {
    return this.#shown?.id ?? null;
  }

  get draft() {
    return this.#draft;
  }

  // What can be shown

  /** @param {{focus?: boolean, notice?: Notice | null}} [options] */
  showList({ focus = true, notice = null } = {}) {
    this.#begin("list", focus);
    this.#head(gettext("Artifacts"), gettext("Beside this conversation"));
    this.#say(notice);
    this.#renderList();
  }

  /**
   * @param {string} id
   * @param {{number?: number | null, focus?: boolean, notice?: Notice | null}} [options] the newest version unless one
   *   is asked for
   */
  async showArtifact(id, { number = null, focus = true, notice = null } = {}) {
    const artifact = this.shelf.find(id);
    if (!artifact || artifact.deleted_at) return this.showList({ focus, notice: this.#goneNotice(artifact) });
    const wanted = number ?? artifact.version;
    const same = this.mode === "artifact" && this.#shown?.id === id;
    this.#begin("artifact", focus);
    this.#shown = { id, number: wanted, version: null, versions: (same && this.#shown?.versions) || [] };
    this.#allowChanges();
    this.#head(artifact.title, kindOf(artifact));
    this.#say(notice);
    const asked = ++this.#asked;
    if (!same) this.body.replaceChildren(h("p", { class: "quiet panel-waiting" }, gettext("Opening …")));
    try {
      const [version, versions] = await Promise.all([this.shelf.version(id, wanted), this.shelf.versions(id)]);
      if (asked !== this.#asked) return undefined;
      this.#shown = { id, number: wanted, version, versions };
      this.#renderVersions();
      this.#renderArtifact();
    } catch (error) {
      if (asked === this.#asked) this.#failed(error, () => this.showArtifact(id, { number }));
    }
    return undefined;
  }

  /**
   * @param {{title: string, kind: string, language: string, text: string, state: string}} draft what is being written
   */
  showDraft(draft, { focus = false } = {}) {
    this.#begin("draft", focus);
    this.#draft = draft;
    this.#growing = null;
    this.draftGrew(draft);
  }

  draftGrew(draft) {
    if (this.mode !== "draft" || this.#draft !== draft) return;
    this.#head(
      draft.title || gettext("Artifact"),
      draft.state === "writing" ? gettext("Being written …") : gettext("Was not finished, and not saved"),
    );
    if (draft.kind && !this.#growing) {
      this.#growing = new Growing(draft.kind);
      this.body.replaceChildren(this.#growing.element);
    }
    if (!this.#growing)
      this.body.replaceChildren(h("p", { class: "quiet panel-waiting" }, gettext("Waiting for the first words …")));
    const { scrollHeight, scrollTop, clientHeight } = this.body;
    const atEnd = scrollHeight - scrollTop - clientHeight < 64;
    this.#growing?.show(draft.text, () => atEnd && this.body.scrollTo({ top: this.body.scrollHeight }));
    if (draft.state !== "writing") this.#growing?.element.classList.remove("growing");
  }

  /** @param {Guest} guest */
  showGuest(guest) {
    const from = /** @type {HTMLElement} */ (document.activeElement);
    this.#begin("guest", true);
    if (!this.element.contains(from)) this.#opener = from;
    this.guest = guest;
    this.headGuest(guest);
    this.guestTools.replaceChildren(...guest.tools);
    this.body.replaceChildren(guest.content);
    this.body.scrollTo({ top: 0, left: 0 });
  }

  /** @param {Guest} guest @param {{title?: string, sub?: string}} [words] */
  headGuest(guest, { title = guest.title, sub = guest.sub } = {}) {
    if (this.guest === guest) this.#head(title, sub);
  }

  close() {
    if (!this.isOpen) return;
    const inside = this.element.contains(document.activeElement);
    this.#full(false);
    this.mode = "closed";
    this.#forget();
    this.#arrange();
    if (inside || this.narrow.matches) (this.#opener?.isConnected ? this.#opener : byId("text")).focus();
    this.#opener = null;
  }

  /** The shelf has something new. */
  changed() {
    if (this.mode === "list") return this.#renderList();
    const artifact = this.#shown && this.shelf.find(this.#shown.id);
    if (!artifact) return undefined;
    this.#head(artifact.title, kindOf(artifact));
    if (artifact.deleted_at && this.mode !== "edit")
      return this.showList({ focus: false, notice: this.#goneNotice(artifact) });
    const newest = this.#shown.versions[0]?.version;
    if (newest && newest < artifact.version && this.mode === "artifact" && this.#shown.number === newest) {
      return this.showArtifact(artifact.id, { focus: false });
    }
    return undefined;
  }

  // Parts

  #wire() {
    byId("panel-close").addEventListener("click", () => this.close());
    byId("panel-scrim").addEventListener("click", () => this.close());
    byId("panel-list").addEventListener("click", () => this.showList());
    byId("panel-full").addEventListener("click", () => this.#full(!this.element.classList.contains("full")));
    byId("panel-changes").addEventListener("click", () =>
      this.mode === "changes" ? this.#backToArtifact() : this.#changes(),
    );
    byId("panel-edit").addEventListener("click", () => this.#edit());
    byId("panel-copy").addEventListener(
      "click",
      (event) => this.#shown.version && copyFrom(event.currentTarget, this.#shown.version.content),
    );
    byId("panel-download").addEventListener("click", (event) => this.#downloads(event.currentTarget));
    byId("panel-more").addEventListener("click", (event) => this.#more(event.currentTarget));
    this.select.addEventListener("change", () => this.#choose(Number(this.select.value)));
    this.element.addEventListener("keydown", (event) => this.#key(event));
    this.narrow.addEventListener("change", () => this.#arrange());
    const again = () =>
      this.mode === "artifact" &&
      this.shelf.find(this.#shown.id)?.kind === "mermaid" &&
      this.#shown.version &&
      this.#renderArtifact();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
    new MutationObserver(again).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  #key(event) {
    if (!event.defaultPrevented && this.guest?.key(event)) event.preventDefault();
    if (event.key !== "Escape" || event.defaultPrevented || document.querySelector("dialog[open], :popover-open"))
      return;
    event.preventDefault(); // or else the reply is stopped
    if (this.mode === "edit") this.#leaveEditor();
    else if (this.element.classList.contains("full")) this.#full(false);
    else this.close();
  }

  #begin(mode, focus) {
    if (!this.isOpen && focus) this.#opener = document.activeElement;
    this.#asked += 1;
    this.#forget({ keepShown: mode === "artifact" });
    this.mode = mode;
    this.#say(null);
    this.#arrange();
    if (focus || this.narrow.matches) this.title.focus();
  }

  #forget({ keepShown = false } = {}) {
    this.#draft = this.#growing = this.#editor = null;
    this.guest?.leave();
    this.guest = null;
    if (!keepShown) this.#shown = null;
  }

  /** What is visible in this mode, and what the sheet on a phone covers. */
  #arrange() {
    const { isOpen, mode } = this;
    const sheet = isOpen && (this.narrow.matches || this.element.classList.contains("full"));
    this.element.hidden = !isOpen;
    document.querySelector(".shell").classList.toggle("with-panel", isOpen);
    byId("artifacts").setAttribute("aria-expanded", String(this.showsArtifacts));
    byId("panel-scrim").hidden = !(isOpen && this.narrow.matches);
    byId("conversation").inert = sheet;
    byId("sidebar").inert = sheet || (this.narrow.matches && !byId("sidebar").classList.contains("open"));
    this.tools.hidden = !["artifact", "changes"].includes(mode);
    this.guestTools.hidden = mode !== "guest";
    this.body.classList.toggle("guest", mode === "guest");
    byId("panel-list").hidden = mode === "list" || mode === "guest";
    byId("panel-changes").setAttribute("aria-pressed", String(mode === "changes"));
    this.body.classList.toggle("framed", mode === "artifact" && isDrawn(this.shelf.find(this.#shown?.id)?.kind));
    this.body.classList.toggle("editing", mode === "edit");
  }

  #full(full) {
    this.element.classList.toggle("full", full);
    const button = byId("panel-full");
    button.setAttribute("aria-pressed", String(full));
    button.title = full ? gettext("Leave full screen") : gettext("Full screen");
    button.setAttribute("aria-label", button.title);
    this.#arrange();
  }

  #head(title, sub) {
    if (this.title.textContent !== title) this.title.textContent = title;
    if (this.sub.textContent !== sub) this.sub.textContent = sub;
  }

  /** @param {{words: string, action?: string, run?: () => void, warning?: boolean} | null} notice */
  #say(notice) {
    this.notice.hidden = !notice;
    if (!notice) return this.notice.replaceChildren();
    const action =
      notice.action && h("button", { type: "button", class: "button small", onclick: notice.run }, notice.action);
    this.notice.classList.toggle("warning", Boolean(notice.warning));
    return this.notice.replaceChildren(h("p", {}, notice.words), ...(action ? [action] : []));
  }

  #failed(error, again) {
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

  // The list

  #renderList() {
    const { present, deleted } = this.shelf;
    const open = this.body.querySelector("details")?.open ?? false;
    const focused = this.body.contains(document.activeElement);
    this.body.replaceChildren(
      present.length
        ? h("ul", { class: "shelf" }, ...present.map((artifact) => this.#entry(artifact)))
        : h(
            "p",
            { class: "quiet" },
            gettext(
              "Nothing has been made in this conversation yet. Ask for a document, a diagram, a table or a page.",
            ),
          ),
      ...(deleted.length ? [this.#bin(deleted, open)] : []),
    );
    if (focused) this.title.focus();
  }

  #entry(artifact) {
    const facts = [kindOf(artifact), gettext("version {version}", { version: artifact.version })].join(" · ");
    return h(
      "li",
      {},
      h(
        "button",
        { type: "button", class: "shelf-entry", onclick: () => this.showArtifact(artifact.id) },
        icon(`kind-${artifact.kind}`),
        h("span", { class: "shelf-title", dir: "auto" }, artifact.title),
        h("span", { class: "shelf-facts" }, facts),
      ),
    );
  }

  #bin(deleted, open) {
    const entry = (artifact) =>
      h(
        "li",
        {},
        h("span", { class: "shelf-title", dir: "auto" }, artifact.title),
        h(
          "button",
          {
            type: "button",
            class: "button small",
            onclick: () => this.restore(artifact.id),
            "aria-label": gettext("Restore “{title}”", { title: artifact.title }),
          },
          gettext("Restore"),
        ),
      );
    return h(
      "details",
      { class: "bin", open },
      h("summary", {}, gettext("Deleted ({count})", { count: deleted.length })),
      h("ul", {}, ...deleted.map(entry)),
    );
  }

  #goneNotice(artifact) {
    if (!artifact) return { words: gettext("This artifact is not there any more."), warning: true };
    return {
      words: gettext("“{title}” is deleted.", { title: artifact.title }),
      action: gettext("Restore"),
      run: () => this.restore(artifact.id),
    };
  }

  // One artifact

  #renderVersions() {
    const { versions, number } = this.#shown;
    this.select.replaceChildren(
      ...versions.map((version) => h("option", { value: version.version }, versionLine(version))),
    );
    this.select.value = String(number);
    this.#allowChanges();
  }

  #allowChanges() {
    byId("panel-changes").disabled = this.#shown.versions.length < 2;
  }

  #renderArtifact() {
    const { id, number, version } = this.#shown;
    const { title, kind, language } = this.shelf.find(id);
    const shown = { id, title, kind, language, number, content: version.content };
    this.body.replaceChildren(this.sourceShown && isDrawn(kind) ? source(shown) : renderVersion(shown));
    this.body.classList.toggle("framed", isDrawn(kind) && !this.sourceShown);
    this.body.scrollTo({ top: 0 });
  }

  #choose(number) {
    const { id } = this.#shown;
    if (this.mode === "changes") this.#changes({ number });
    else this.showArtifact(id, { number, focus: false });
  }

  /** What is shown is known already. */
  #backToArtifact() {
    this.#asked += 1;
    this.mode = "artifact";
    this.#arrange();
    this.#renderArtifact();
  }

  async #changes({ number = this.#shown.number, from = null } = {}) {
    const { id, versions } = this.#shown;
    if (versions.length < 2) return;
    const numbers = versions.map((version) => version.version);
    const before = from ?? numbers.find((other) => other < number) ?? numbers.find((other) => other !== number);
    const asked = ++this.#asked;
    this.mode = "changes";
    this.#arrange();
    try {
      const [old, current] = await Promise.all([this.shelf.version(id, before), this.shelf.version(id, number)]);
      if (asked !== this.#asked) return;
      this.#shown = { ...this.#shown, number, version: current };
      this.select.value = String(number);
      const others = versions.filter((version) => version.version !== number);
      const choice = h(
        "select",
        { id: "panel-from", onchange: () => this.#changes({ number, from: Number(choice.value) }) },
        ...others.map((version) => h("option", { value: version.version }, versionLine(version))),
      );
      choice.value = String(before);
      const focused = document.activeElement?.id === "panel-from";
      this.body.replaceChildren(
        h("div", { class: "compared" }, h("label", { for: "panel-from" }, gettext("Compared with")), choice),
        renderDifference(old.content, current.content),
      );
      if (focused) choice.focus();
    } catch (error) {
      if (asked === this.#asked) this.#failed(error, () => this.#changes({ number, from }));
    }
  }

  async #edit() {
    const { id, number } = this.#shown;
    const asked = ++this.#asked;
    const version = await this.shelf
      .version(id, number)
      .catch((error) => this.#say({ words: error.message, warning: true }));
    if (!version || asked !== this.#asked) return;
    this.#shown = { ...this.#shown, version };
    const { kind, version: base } = this.shelf.find(id);
    this.mode = "edit";
    this.#editor = new Editor(
      this.store,
      { id, kind, content: version.content, base },
      {
        onSave: async (content, basedOn) => {
          await this.shelf.write(id, content, basedOn);
          await this.showArtifact(id);
          this.announcer.say(gettext("Saved as version {version}.", { version: this.shelf.find(id).version }));
        },
        onNewest: async () => {
          const { version: newest } = await this.shelf.refresh(id);
          return { version: newest, content: (await this.shelf.version(id, newest)).content };
        },
        onLeave: () => this.showArtifact(id, { number }),
      },
    );
    this.#say(null);
    this.body.replaceChildren(this.#editor.element);
    this.#arrange();
    this.sub.textContent =
      number === base
        ? gettext("You are editing the newest version")
        : gettext("You are editing version {number}; saving makes version {next}", { number, next: base + 1 });
    this.#editor.focus();
  }

  #leaveEditor() {
    const { id, number } = this.#shown;
    const notice = this.#editor.changed ? { words: gettext("What you typed is kept. Edit again to go on.") } : null;
    this.showArtifact(id, { number, notice });
  }

  #downloads(button) {
    const { id, number } = this.#shown;
    const take = (format) =>
      download(`artifacts/${id}/export/?as=${format}&version=${number}`).catch((error) =>
        this.#say({ words: error.message, warning: true }),
      );
    openMenu(
      button,
      downloadsOf(this.shelf.find(id).kind).map(({ format, label }) => ({ label, run: () => take(format) })),
    );
  }

  #more(button) {
    const { id, number } = this.#shown;
    const { kind, version: newest } = this.shelf.find(id);
    const drawn = isDrawn(kind) && this.mode === "artifact";
    openMenu(button, [
      ...(drawn
        ? [{
          label: this.sourceShown ? gettext("Show it drawn") : gettext("Show its source"),
          run: () => this.#toggleSource(),
        }]
        : []),
      ...(number < newest
        ? [{
          label: gettext("Make version {number} the newest", { number }),
          run: () => this.#try(() => this.#again(id, number, newest)),
        }]
        : []),
      { label: gettext("Rename"), run: () => this.#rename() },
      ...(this.onShare ? [{ label: gettext("Share…"), run: () => this.onShare(this.shelf.find(id), number) }] : []),
      { label: "Delete", danger: true, run: () => this.remove(id) },
    ]);
  }

  #toggleSource() {
    this.sourceShown = !this.sourceShown;
    this.#renderArtifact();
  }

  async #again(id, number, newest) {
    const { content } = await this.shelf.version(id, number);
    await this.shelf.write(id, content, newest);
    await this.showArtifact(id);
  }

  #rename() {
    const { id } = this.#shown;
    const { title } = this.shelf.find(id);
    const field = h("input", {
      class: "panel-rename",
      "aria-label": gettext("Title"),
      maxlength: 200,
      value: title,
      dir: "auto",
    });
    let done = false;
    const end = async (keep) => {
      if (done) return;
      done = true;
      field.replaceWith(this.title);
      const words = field.value.trim();
      if (keep && words && words !== title) await this.#try(() => this.shelf.rename(id, words));
      byId("panel-more").focus();
    };
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      end(event.key === "Enter");
    });
    field.addEventListener("blur", () => end(true));
    this.title.replaceWith(field);
    field.focus();
    field.select();
  }

  async remove(id) {
    const { title } = this.shelf.find(id);
    if (!(await this.#try(() => this.shelf.remove(id)))) return;
    this.showList({
      notice: {
        words: gettext("“{title}” is deleted.", { title }),
        action: gettext("Undo"),
        run: () => this.restore(id),
      },
    });
    this.announcer.say(gettext("“{title}” is deleted. Undo is in the panel.", { title }));
  }

  async restore(id) {
    if (!(await this.#try(() => this.shelf.restore(id)))) return;
    this.announcer.say(gettext("“{title}” is restored.", { title: this.shelf.find(id).title }));
    if (this.isOpen) this.showArtifact(id);
  }

  /** @returns {Promise<boolean>} whether it worked; if not, the panel says why */
  async #try(action) {
    try {
      await action();
      return true;
    } catch (error) {
      if (!this.isOpen) this.showList({ focus: false });
      this.#say({ words: error.message, warning: true });
      return false;
    }
  }
}
