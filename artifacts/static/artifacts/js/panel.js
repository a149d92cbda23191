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

import { copyFrom, byId, h } from "../../conversations/js/dom.js";
import { gettext } from "../../conversations/js/language.js";
import { loaded } from "../../conversations/js/on-demand.js";
import { openDownloads, openMore } from "./artifact-menus.js";
import { kindOf, versionLine } from "./naming.js";
import { PanelFrame } from "./panel-frame.js";
import { renameInPlace } from "./renaming.js";
import { shelfList } from "./shelf-list.js";
import { Growing, isDrawn, renderVersion, source } from "./view.js";

export class Panel {
  #shown = null; // {id, number, version, versions} of the artifact
  #draft = null;
  #growing = null;
  /** @type {import("./editor.js").Editor | null} */
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
    this.frame = new PanelFrame();
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
    this.frame.head(gettext("Artifacts"), gettext("Beside this conversation"));
    this.frame.say(notice);
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
    this.frame.head(artifact.title, kindOf(artifact));
    this.frame.say(notice);
    const asked = ++this.#asked;
    if (!same) this.frame.wait(gettext("Opening …"));
    try {
      const [version, versions] = await Promise.all([this.shelf.version(id, wanted), this.shelf.versions(id)]);
      if (asked !== this.#asked) return undefined;
      this.#shown = { id, number: wanted, version, versions };
      this.#renderVersions();
      this.#renderArtifact();
    } catch (error) {
      if (asked === this.#asked) this.frame.failed(error, () => this.showArtifact(id, { number }));
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
    const state =
      draft.state === "writing" ? gettext("Being written …") : gettext("Was not finished, and not saved");
    this.frame.head(draft.title || gettext("Artifact"), state);
    if (draft.kind && !this.#growing) {
      this.#growing = new Growing(draft.kind);
      this.frame.body.replaceChildren(this.#growing.element);
    }
    if (!this.#growing) this.frame.wait(gettext("Waiting for the first words …"));
    this.#growing?.show(draft.text, this.frame.follower());
    if (draft.state !== "writing") this.#growing?.element.classList.remove("growing");
  }

  /** @param {Guest} guest */
  showGuest(guest) {
    const from = /** @type {HTMLElement} */ (document.activeElement);
    this.#begin("guest", true);
    if (!this.frame.element.contains(from)) this.#opener = from;
    this.guest = guest;
    this.headGuest(guest);
    this.frame.guestTools.replaceChildren(...guest.tools);
    this.frame.body.replaceChildren(guest.content);
    this.frame.body.scrollTo({ top: 0, left: 0 });
  }

  /** @param {Guest} guest @param {{title?: string, sub?: string}} [words] */
  headGuest(guest, { title = guest.title, sub = guest.sub } = {}) {
    if (this.guest === guest) this.frame.head(title, sub);
  }

  close() {
    if (!this.isOpen) return;
    const inside = this.frame.element.contains(document.activeElement);
    this.#full(false);
    this.mode = "closed";
    this.#forget();
    this.#arrange();
    if (inside || this.frame.narrow.matches) (this.#opener?.isConnected ? this.#opener : byId("text")).focus();
    this.#opener = null;
  }

  /** The shelf has something new. */
  changed() {
    if (this.mode === "list") return this.#renderList();
    const artifact = this.#shown && this.shelf.find(this.#shown.id);
    if (!artifact) return undefined;
    this.frame.head(artifact.title, kindOf(artifact));
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
    byId("panel-full").addEventListener("click", () => this.#full(!this.frame.isFull));
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
    this.frame.select.addEventListener("change", () => this.#choose(Number(this.frame.select.value)));
    this.frame.element.addEventListener("keydown", (event) => this.#key(event));
    this.frame.narrow.addEventListener("change", () => this.#arrange());
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
    else if (this.frame.isFull) this.#full(false);
    else this.close();
  }

  #begin(mode, focus) {
    if (!this.isOpen && focus) this.#opener = document.activeElement;
    this.#asked += 1;
    this.#forget({ keepShown: mode === "artifact" });
    this.mode = mode;
    this.frame.say(null);
    this.#arrange();
    if (focus || this.frame.narrow.matches) this.frame.title.focus();
  }

  #forget({ keepShown = false } = {}) {
    this.#draft = this.#growing = this.#editor = null;
    this.guest?.leave();
    this.guest = null;
    if (!keepShown) this.#shown = null;
  }

  #arrange() {
    this.frame.arrange(this.mode, isDrawn(this.shelf.find(this.#shown?.id)?.kind));
  }

  #full(full) {
    this.frame.setFull(full);
    this.#arrange();
  }

  // The list

  #renderList() {
    const isBinOpen = this.frame.body.querySelector("details")?.open ?? false;
    const focused = this.frame.body.contains(document.activeElement);
    const onOpen = (id) => this.showArtifact(id);
    const onRestore = (id) => this.restore(id);
    this.frame.body.replaceChildren(...shelfList(this.shelf, { isBinOpen, onOpen, onRestore }));
    if (focused) this.frame.title.focus();
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
    this.frame.select.replaceChildren(
      ...versions.map((version) => h("option", { value: version.version }, versionLine(version))),
    );
    this.frame.select.value = String(number);
    this.#allowChanges();
  }

  #allowChanges() {
    byId("panel-changes").disabled = this.#shown.versions.length < 2;
  }

  #renderArtifact() {
    const { id, number, version } = this.#shown;
    const { title, kind, language } = this.shelf.find(id);
    const shown = { id, title, kind, language, number, content: version.content };
    this.frame.body.replaceChildren(this.sourceShown && isDrawn(kind) ? source(shown) : renderVersion(shown));
    this.frame.body.classList.toggle("framed", isDrawn(kind) && !this.sourceShown);
    this.frame.body.scrollTo({ top: 0 });
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
      const [old, current, { changesBetween }] = await Promise.all([
        this.shelf.version(id, before),
        this.shelf.version(id, number),
        loaded(import("./changes.js")),
      ]);
      if (asked !== this.#asked) return;
      this.#shown = { ...this.#shown, number, version: current };
      this.frame.select.value = String(number);
      const focused = document.activeElement?.id === "panel-from";
      const onFrom = (version) => this.#changes({ number, from: version });
      this.frame.body.replaceChildren(
        ...changesBetween(
          { version: before, content: old.content },
          { version: number, content: current.content },
          versions,
          onFrom,
        ),
      );
      if (focused) byId("panel-from").focus();
    } catch (error) {
      if (asked === this.#asked) this.frame.failed(error, () => this.#changes({ number, from }));
    }
  }

  async #edit() {
    const { id, number } = this.#shown;
    const asked = ++this.#asked;
    const [version, Editor] = await Promise.all([
      this.shelf.version(id, number),
      loaded(import("./editor.js")).then((module) => module.Editor),
    ]).catch((error) => this.#warn(error));
    if (!version || !Editor || asked !== this.#asked) return;
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
    this.frame.say(null);
    this.frame.body.replaceChildren(this.#editor.element);
    this.#arrange();
    this.frame.sub.textContent =
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
    openDownloads(button, { id, kind: this.shelf.find(id).kind, number }, (error) => this.#warn(error));
  }

  #more(button) {
    const { id, number } = this.#shown;
    const { kind, version: newest } = this.shelf.find(id);
    openMore(
      button,
      { number, newest, isDrawn: isDrawn(kind) && this.mode === "artifact", isSourceShown: this.sourceShown },
      {
        onSource: () => {
          this.sourceShown = !this.sourceShown;
          this.#renderArtifact();
        },
        onAgain: () => this.#try(() => this.#again(id, number, newest)),
        onRename: () => this.#rename(),
        onShare: this.onShare && (() => this.onShare(this.shelf.find(id), number)),
        onDelete: () => this.remove(id),
      },
    );
  }

  async #again(id, number, newest) {
    const { content } = await this.shelf.version(id, number);
    await this.shelf.write(id, content, newest);
    await this.showArtifact(id);
  }

  #rename() {
    const { id } = this.#shown;
    renameInPlace(this.frame.title, this.shelf.find(id).title, async (title) => {
      if (title) await this.#try(() => this.shelf.rename(id, title));
      byId("panel-more").focus();
    });
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
      this.#warn(error);
      return false;
    }
  }

  /** @returns {[]} nothing came of it */
  #warn(error) {
    this.frame.say({ words: error.message, warning: true });
    return [];
  }
}
