/** One artifact in the panel: in one of its versions, as what changed, or edited by hand. */

import { byId, copyFrom, h } from "../../conversations/js/dom.js";
import { gettext } from "../../conversations/js/language.js";
import { loaded } from "../../conversations/js/on-demand.js";
import { openDownloads, openMore } from "./artifact-menus.js";
import { kindOf, versionLine } from "./naming.js";
import { renameInPlace } from "./renaming.js";
import { isDrawn, renderVersion, source } from "./view.js";

export class ArtifactView {
  #shown = null; // {id, number, version, versions}
  /** @type {import("./editor.js").Editor | null} */
  #editor = null;
  #asked = 0;

  /** @param {import("./panel.js").Panel} panel */
  constructor(panel) {
    this.panel = panel;
    this.#wire();
  }

  get id() {
    return this.#shown?.id ?? null;
  }

  get isDrawn() {
    return isDrawn(this.panel.shelf.find(this.id)?.kind);
  }

  /** What is asked for and has not come is not shown any more. */
  forget({ keepShown = false } = {}) {
    this.#asked += 1;
    this.#editor = null;
    if (!keepShown) this.#shown = null;
  }

  /** The shelf has something new. */
  changed() {
    const { panel } = this;
    const artifact = this.#shown && panel.shelf.find(this.#shown.id);
    if (!artifact) return undefined;
    panel.frame.head(artifact.title, kindOf(artifact));
    if (artifact.deleted_at && panel.mode !== "edit")
      return panel.showList({ focus: false, notice: panel.goneNotice(artifact) });
    const newest = this.#shown.versions[0]?.version;
    if (newest && newest < artifact.version && panel.mode === "artifact" && this.#shown.number === newest) {
      return this.open(artifact.id, { focus: false });
    }
    return undefined;
  }

  #wire() {
    const { select } = this.panel.frame;
    byId("panel-changes").addEventListener("click", () =>
      this.panel.mode === "changes" ? this.#backToArtifact() : this.#changes(),
    );
    byId("panel-edit").addEventListener("click", () => this.#edit());
    byId("panel-copy").addEventListener(
      "click",
      (event) => this.#shown.version && copyFrom(event.currentTarget, this.#shown.version.content),
    );
    byId("panel-download").addEventListener("click", (event) => this.#downloads(event.currentTarget));
    byId("panel-more").addEventListener("click", (event) => this.#more(event.currentTarget));
    select.addEventListener("change", () => this.#choose(Number(select.value)));
    const again = () =>
      this.panel.mode === "artifact" &&
      this.panel.shelf.find(this.id)?.kind === "mermaid" &&
      this.#shown.version &&
      this.#renderArtifact();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
    new MutationObserver(again).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  /**
   * @param {string} id
   * @param {{number?: number | null, focus?: boolean, notice?: Notice | null}} [options] the newest version unless one
   *   is asked for
   */
  async open(id, { number = null, focus = true, notice = null } = {}) {
    const artifact = this.panel.shelf.find(id);
    if (!artifact || artifact.deleted_at)
      return this.panel.showList({ focus, notice: this.panel.goneNotice(artifact) });
    const wanted = number ?? artifact.version;
    const same = this.panel.mode === "artifact" && this.#shown?.id === id;
    this.panel.begin("artifact", focus);
    this.#shown = { id, number: wanted, version: null, versions: (same && this.#shown?.versions) || [] };
    this.#allowChanges();
    this.panel.frame.head(artifact.title, kindOf(artifact));
    this.panel.frame.say(notice);
    const asked = ++this.#asked;
    if (!same) this.panel.frame.wait(gettext("Opening …"));
    try {
      const { shelf } = this.panel;
      const [version, versions] = await Promise.all([shelf.version(id, wanted), shelf.versions(id)]);
      if (asked !== this.#asked) return undefined;
      this.#shown = { id, number: wanted, version, versions };
      this.#renderVersions();
      this.#renderArtifact();
    } catch (error) {
      if (asked === this.#asked) this.panel.frame.failed(error, () => this.open(id, { number }));
    }
    return undefined;
  }

  #renderVersions() {
    const { versions, number } = this.#shown;
    this.panel.frame.select.replaceChildren(
      ...versions.map((version) => h("option", { value: version.version }, versionLine(version))),
    );
    this.panel.frame.select.value = String(number);
    this.#allowChanges();
  }

  #allowChanges() {
    byId("panel-changes").disabled = this.#shown.versions.length < 2;
  }

  #renderArtifact() {
    const { id, number, version } = this.#shown;
    const { title, kind, language } = this.panel.shelf.find(id);
    const shown = { id, title, kind, language, number, content: version.content };
    this.panel.frame.body.replaceChildren(this.sourceShown && isDrawn(kind) ? source(shown) : renderVersion(shown));
    this.panel.frame.body.classList.toggle("framed", isDrawn(kind) && !this.sourceShown);
    this.panel.frame.body.scrollTo({ top: 0 });
  }

  #choose(number) {
    const { id } = this.#shown;
    if (this.panel.mode === "changes") this.#changes({ number });
    else this.open(id, { number, focus: false });
  }

  /** What is shown is known already. */
  #backToArtifact() {
    this.#asked += 1;
    this.panel.mode = "artifact";
    this.panel.arrange();
    this.#renderArtifact();
  }

  async #changes({ number = this.#shown.number, from = null } = {}) {
    const { id, versions } = this.#shown;
    if (versions.length < 2) return;
    const numbers = versions.map((version) => version.version);
    const before = from ?? numbers.find((other) => other < number) ?? numbers.find((other) => other !== number);
    const asked = ++this.#asked;
    this.panel.mode = "changes";
    this.panel.arrange();
    try {
      const [old, current, { changesBetween }] = await Promise.all([
        this.panel.shelf.version(id, before),
        this.panel.shelf.version(id, number),
        loaded(import("./changes.js")),
      ]);
      if (asked !== this.#asked) return;
      this.#shown = { ...this.#shown, number, version: current };
      this.panel.frame.select.value = String(number);
      const focused = document.activeElement?.id === "panel-from";
      const onFrom = (version) => this.#changes({ number, from: version });
      this.panel.frame.body.replaceChildren(
        ...changesBetween(
          { version: before, content: old.content },
          { version: number, content: current.content },
          versions,
          onFrom,
        ),
      );
      if (focused) byId("panel-from").focus();
    } catch (error) {
      if (asked === this.#asked) this.panel.frame.failed(error, () => this.#changes({ number, from }));
    }
  }

  async #edit() {
    const { id, number } = this.#shown;
    const asked = ++this.#asked;
    const [version, Editor] = await Promise.all([
      this.panel.shelf.version(id, number),
      loaded(import("./editor.js")).then((module) => module.Editor),
    ]).catch((error) => this.panel.warn(error));
    if (!version || !Editor || asked !== this.#asked) return;
    this.#shown = { ...this.#shown, version };
    const { kind, version: base } = this.panel.shelf.find(id);
    this.panel.mode = "edit";
    this.#editor = new Editor(
      this.panel.store,
      { id, kind, content: version.content, base },
      {
        onSave: async (content, basedOn) => {
          await this.panel.shelf.write(id, content, basedOn);
          await this.open(id);
          const { version: saved } = this.panel.shelf.find(id);
          this.panel.announcer.say(gettext("Saved as version {version}.", { version: saved }));
        },
        onNewest: async () => {
          const { version: newest } = await this.panel.shelf.refresh(id);
          return { version: newest, content: (await this.panel.shelf.version(id, newest)).content };
        },
        onLeave: () => this.open(id, { number }),
      },
    );
    this.panel.frame.say(null);
    this.panel.frame.body.replaceChildren(this.#editor.element);
    this.panel.arrange();
    this.panel.frame.sub.textContent =
      number === base
        ? gettext("You are editing the newest version")
        : gettext("You are editing version {number}; saving makes version {next}", { number, next: base + 1 });
    this.#editor.focus();
  }

  leaveEditor() {
    const { id, number } = this.#shown;
    const notice = this.#editor.changed ? { words: gettext("What you typed is kept. Edit again to go on.") } : null;
    this.open(id, { number, notice });
  }

  #downloads(button) {
    const { id, number } = this.#shown;
    openDownloads(button, { id, kind: this.panel.shelf.find(id).kind, number }, (error) => this.panel.warn(error));
  }

  #more(button) {
    const { id, number } = this.#shown;
    const { kind, version: newest } = this.panel.shelf.find(id);
    openMore(
      button,
      { number, newest, isDrawn: isDrawn(kind) && this.panel.mode === "artifact", isSourceShown: this.sourceShown },
      {
        onSource: () => {
          this.sourceShown = !this.sourceShown;
          this.#renderArtifact();
        },
        onAgain: () => this.panel.attempt(() => this.#again(id, number, newest)),
        onRename: () => this.#rename(),
        onShare: this.panel.onShare && (() => this.panel.onShare(this.panel.shelf.find(id), number)),
        onDelete: () => this.panel.remove(id),
      },
    );
  }

  async #again(id, number, newest) {
    const { content } = await this.panel.shelf.version(id, number);
    await this.panel.shelf.write(id, content, newest);
    await this.open(id);
  }

  #rename() {
    const { id } = this.#shown;
    renameInPlace(this.panel.frame.title, this.panel.shelf.find(id).title, async (title) => {
      if (title) await this.panel.attempt(() => this.panel.shelf.rename(id, title));
      byId("panel-more").focus();
    });
  }
}
