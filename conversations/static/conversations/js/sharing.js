/** The dialog that makes read-only links to a conversation up to a turn, or to an artifact. */

import { api } from "./api.js";
import { byId, copyFrom, elements, h } from "./dom.js";
import { dateFormat, gettext, ngettext } from "./language.js";

const DAYS = [1, 7, 30, 90, 365];
const USUAL = 30;
const DAY = dateFormat({ day: "numeric", month: "long", year: "numeric" });
const UP_TO_HERE = gettext(
  "Whoever has the link reads this conversation up to this turn, without an account. Later turns never show.",
);
const UP_TO_NEWEST = gettext(
  "Whoever has the link reads this conversation up to its newest turn, without an account. Later turns never show.",
);

/**
 * What a link is made to. `path` is the call that makes one, `body` what it says of which turn or version.
 * @typedef {{kind: "thread" | "artifact", path: string, thread: string, about: string, body: Row}} Subject
 */

export class Sharing {
  /** @type {Subject | null} */
  #subject = null;

  /** @param {number} mostDays @param {import("./announce.js").Announcer} announcer */
  constructor(mostDays, announcer) {
    this.announcer = announcer;
    this.dialog = byId("share");
    this.form = byId("share-form");
    const days = [...DAYS.filter((each) => each < mostDays), mostDays];
    byId("share-days").replaceChildren(...days.map((each) => h("option", { value: each }, inDays(each))));
    byId("share-days").value = String(days.includes(USUAL) ? USUAL : mostDays);
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#make();
    });
    byId("share-close").addEventListener("click", () => this.dialog.close());
    byId("share-copy").addEventListener("click", (event) => copyFrom(event.currentTarget, byId("share-url").value));
    byId("share-url").addEventListener("focus", () => byId("share-url").select());
  }

  /** @param {Thread} thread @param {Message} [message] the last turn that is shown; the newest by default */
  thread(thread, message) {
    this.#open({
      kind: "thread",
      path: `threads/${thread.id}/shares/`,
      thread: thread.id,
      about: message ? UP_TO_HERE : UP_TO_NEWEST,
      body: message ? { message: message.id } : {},
    });
  }

  /** @param {Row} artifact @param {number} shown which of its versions */
  artifact(artifact, shown) {
    this.#open({
      kind: "artifact",
      path: `artifacts/${artifact.id}/shares/`,
      thread: artifact.thread,
      about: gettext("Whoever has the link sees this artifact, without an account. The conversation is not shown."),
      body: {},
    });
    const fixed = h("option", { value: shown }, gettext("Version {shown}, as it is now", { shown }));
    const moving = h("option", { value: "" }, gettext("Always the newest"));
    byId("share-version").replaceChildren(fixed, moving);
  }

  #open(subject) {
    this.#subject = subject;
    const isThread = subject.kind === "thread";
    byId("share-title").textContent = isThread
      ? gettext("Share this conversation")
      : gettext("Share this artifact");
    byId("share-about").textContent = subject.about;
    byId("share-version-field").hidden = isThread;
    for (const element of elements(this.form, "[data-of]")) element.hidden = element.dataset.of !== subject.kind;
    for (const box of this.form.querySelectorAll("input[type=checkbox]")) box.checked = false;
    byId("share-made").hidden = true;
    this.#say("");
    byId("share-links").hidden = true;
    this.dialog.showModal();
    this.#list();
  }

  async #make() {
    const subject = this.#subject;
    const chosen = new FormData(this.form);
    const shows = Object.fromEntries(["title", "names", "files", "book"].map((name) => [name, chosen.has(name)]));
    const version = byId("share-version").value;
    const which = subject.kind === "artifact" ? { version: version ? Number(version) : null } : subject.body;
    this.#say("");
    try {
      const share = await api.post(subject.path, { ...which, shows, days: Number(byId("share-days").value) });
      if (subject !== this.#subject) return;
      byId("share-made").hidden = false;
      byId("share-url").value = absolute(share);
      byId("share-copy").focus();
      this.announcer.say(gettext("The link is made."));
      await this.#list();
    } catch (error) {
      this.#say(error.message);
    }
  }

  /** Those that there are of the same thing. */
  async #list() {
    const subject = this.#subject;
    try {
      const { results } = await api.get(`shares/?thread=${subject.thread}&page_size=200`);
      if (subject !== this.#subject) return;
      const links = results.filter(({ kind, artifact }) => kind === subject.kind && isOf(subject, artifact));
      byId("share-links").hidden = !links.length;
      byId("share-links-title").textContent =
        subject.kind === "thread" ? gettext("Links to this conversation") : gettext("Links to this artifact");
      byId("share-list").replaceChildren(...links.map((share) => this.#entry(share)));
    } catch (error) {
      this.#say(error.message);
    }
  }

  #entry(share) {
    const until = new Date(share.expires_at);
    const day = DAY.format(until);
    const when = until < new Date() ? gettext("Expired {day}", { day }) : gettext("Until {day}", { day });
    const words = `${when} · ${ngettext("opened {count} time", "opened {count} times", share.views)}`;
    const copy = h(
      "button",
      { type: "button", class: "button small", onclick: () => copyFrom(copy, absolute(share)) },
      gettext("Copy"),
    );
    const revoke = h(
      "button",
      { type: "button", class: "button small", onclick: () => this.#revoke(share) },
      gettext("Revoke"),
    );
    copy.setAttribute("aria-label", gettext("Copy the link until {day}", { day }));
    revoke.setAttribute("aria-label", gettext("Revoke the link until {day}", { day }));
    return h("li", {}, h("span", {}, words), share.url && copy, revoke);
  }

  async #revoke(share) {
    try {
      await api.delete(`shares/${share.id}/`);
      if (byId("share-url").value === absolute(share)) byId("share-made").hidden = true;
      this.announcer.say(gettext("The link is revoked."));
      byId("share-title").focus();
      await this.#list();
    } catch (error) {
      this.#say(error.message);
    }
  }

  #say(words) {
    byId("share-error").textContent = words;
    byId("share-error").hidden = !words;
  }
}

function inDays(count) {
  return ngettext("{count} day", "{count} days", count);
}

function absolute({ url }) {
  return url ? new URL(url, location.origin).href : "";
}

/** @param {Subject} subject @param {string | null} artifact */
function isOf(subject, artifact) {
  return subject.kind === "thread" || subject.path === `artifacts/${artifact}/shares/`;
}
