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

import { byId } from "../../conversations/js/dom.js";
import { gettext } from "../../conversations/js/language.js";
import { ArtifactView } from "./artifact-view.js";
import { PanelFrame } from "./panel-frame.js";
import { shelfList } from "./shelf-list.js";
import { Growing } from "./view.js";

export class Panel {
  #draft = null;
  #growing = null;
  #opener = null;
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
    this.artifact = new ArtifactView(this);
    this.#wire();
  }

  get isOpen() {
    return this.mode !== "closed";
  }

  get showsArtifacts() {
    return this.isOpen && this.mode !== "guest";
  }

  get shownId() {
    return this.artifact.id;
  }

  get draft() {
    return this.#draft;
  }

  // What can be shown

  /** @param {{focus?: boolean, notice?: Notice | null}} [options] */
  showList({ focus = true, notice = null } = {}) {
    this.begin("list", focus);
    this.frame.head(gettext("Artifacts"), gettext("Beside this conversation"));
    this.frame.say(notice);
    this.#renderList();
  }

  /**
   * @param {string} id
   * @param {{number?: number | null, focus?: boolean, notice?: Notice | null}} [options] the newest version unless one
   *   is asked for
   */
  showArtifact(id, options) {
    return this.artifact.open(id, options);
  }

  /**
   * @param {{title: string, kind: string, language: string, text: string, state: string}} draft what is being written
   */
  showDraft(draft, { focus = false } = {}) {
    this.begin("draft", focus);
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
    this.begin("guest", true);
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
    this.arrange();
    if (inside || this.frame.narrow.matches) (this.#opener?.isConnected ? this.#opener : byId("text")).focus();
    this.#opener = null;
  }

  /** The shelf has something new. */
  changed() {
    if (this.mode === "list") this.#renderList();
    else this.artifact.changed();
  }

  // Parts

  #wire() {
    byId("panel-close").addEventListener("click", () => this.close());
    byId("panel-scrim").addEventListener("click", () => this.close());
    byId("panel-list").addEventListener("click", () => this.showList());
    byId("panel-full").addEventListener("click", () => this.#full(!this.frame.isFull));
    this.frame.element.addEventListener("keydown", (event) => this.#key(event));
    this.frame.narrow.addEventListener("change", () => this.arrange());
  }

  #key(event) {
    if (!event.defaultPrevented && this.guest?.key(event)) event.preventDefault();
    if (event.key !== "Escape" || event.defaultPrevented || document.querySelector("dialog[open], :popover-open"))
      return;
    event.preventDefault(); // or else the reply is stopped
    if (this.mode === "edit") this.artifact.leaveEditor();
    else if (this.frame.isFull) this.#full(false);
    else this.close();
  }

  begin(mode, focus) {
    if (!this.isOpen && focus) this.#opener = document.activeElement;
    this.#forget({ keepShown: mode === "artifact" });
    this.mode = mode;
    this.frame.say(null);
    this.arrange();
    if (focus || this.frame.narrow.matches) this.frame.title.focus();
  }

  #forget({ keepShown = false } = {}) {
    this.#draft = this.#growing = null;
    this.artifact.forget({ keepShown });
    this.guest?.leave();
    this.guest = null;
  }

  arrange() {
    this.frame.arrange(this.mode, this.artifact.isDrawn);
  }

  #full(full) {
    this.frame.setFull(full);
    this.arrange();
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

  goneNotice(artifact) {
    if (!artifact) return { words: gettext("This artifact is not there any more."), warning: true };
    return {
      words: gettext("“{title}” is deleted.", { title: artifact.title }),
      action: gettext("Restore"),
      run: () => this.restore(artifact.id),
    };
  }

  async remove(id) {
    const { title } = this.shelf.find(id);
    if (!(await this.attempt(() => this.shelf.remove(id)))) return;
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
    if (!(await this.attempt(() => this.shelf.restore(id)))) return;
    this.announcer.say(gettext("“{title}” is restored.", { title: this.shelf.find(id).title }));
    if (this.isOpen) this.showArtifact(id);
  }

  /** @returns {Promise<boolean>} whether it worked; if not, the panel says why */
  async attempt(action) {
    try {
      await action();
      return true;
    } catch (error) {
      if (!this.isOpen) this.showList({ focus: false });
      this.warn(error);
      return false;
    }
  }

  /** @returns {[]} nothing came of it */
  warn(error) {
    this.frame.say({ words: error.message, warning: true });
    return [];
  }
}
