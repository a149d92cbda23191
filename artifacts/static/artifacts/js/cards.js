/** Cards in the thread: for artifacts that no turn tells of, and for the silent work of a preset. */

import { elements, h, icon } from "../../conversations/js/dom.js";
import { waysOn } from "../../conversations/js/endings.js";
import { gettext, ngettext } from "../../conversations/js/language.js";
import { noteOf, thinkingFor } from "../../conversations/js/words.js";
import { kindOf } from "./naming.js";

export class Cards {
  #artifacts = new Map(); // artifact id → card element
  #works = new Map(); // reply id → Work

  /**
   * @param {HTMLElement} log
   * @param {import("./shelf.js").Shelf} shelf
   * @param {{
   *   onOpen: (id: string) => void,
   *   onRestore: (id: string) => void,
   *   onStop: () => void,
   *   onRetry: (reply: string, model?: string) => void,
   *   nameOfModel: (id: string) => string,
   *   onDraft: (reply: string) => void,
   *   onGrown: () => void,
   * }} on
   */
  constructor(log, shelf, on) {
    this.log = log;
    this.shelf = shelf;
    this.on = on;
    this.complete = true;
  }

  clear() {
    this.#artifacts.clear();
    this.#works.clear();
  }

  /** Puts every card where it belongs. Runs after each change of the turns or of the shelf. */
  place() {
    const turns = elements(this.log, ".turn[data-position]");
    const first = Number(turns[0]?.dataset.position ?? 0);
    const told = new Set(elements(this.log, ".turn [data-artifact]").map(({ dataset }) => dataset.artifact));
    const works = [...this.#works.values()];
    for (const { made } of works) if (made) told.add(made);
    const artifacts = [...this.shelf.present, ...this.shelf.deleted].sort((one, other) =>
      one.created_at.localeCompare(other.created_at),
    );
    const shown = new Set();
    const after = new Map(); // turn → the last card below it
    for (const artifact of artifacts) {
      if (told.has(artifact.id) || (artifact.after_position < first && !this.complete)) continue;
      shown.add(artifact.id);
      const card = this.#card(artifact);
      const turn = turns.findLast(({ dataset }) => Number(dataset.position) <= artifact.after_position) ?? null;
      const before = after.get(turn) ?? turn;
      if (before ? before.nextElementSibling !== card : this.log.firstElementChild !== card) {
        if (before) before.after(card);
        else this.log.prepend(card);
      }
      after.set(turn, card);
    }
    for (const [id, card] of this.#artifacts) if (!shown.has(id)) card.remove();
    for (const work of works) if (!work.element.isConnected) this.#append(work.element);
  }

  // Silent work

  requested(reply, name, kind) {
    const work = this.#works.get(reply) ?? new Work(reply, name, kind, this.on);
    this.#works.set(reply, work);
    for (const [id, { over, made, element }] of this.#works) {
      if (!over || made || id === reply) continue; // a new attempt takes the place of what failed
      element.remove();
      this.#works.delete(id);
    }
    this.place();
    this.on.onGrown();
  }

  isWork(reply) {
    return this.#works.has(reply);
  }

  get runningReply() {
    return [...this.#works.values()].find(({ over }) => !over)?.reply ?? null;
  }

  nameOf(reply) {
    return this.#works.get(reply)?.name ?? "";
  }

  kindOf(reply) {
    return this.#works.get(reply)?.kind ?? "";
  }

  grew(reply, draft) {
    this.#works.get(reply)?.grew(draft);
  }

  thinking(reply, seconds) {
    this.#works.get(reply)?.thinking(seconds);
  }

  /** @param {{reply?: Reply, artifact?: Row | null}} end */
  ended(reply, status, end) {
    this.#works.get(reply)?.ended(status, end.reply, end.artifact);
    this.place();
    this.on.onGrown();
  }

  #append(element) {
    const pending = this.log.querySelector(".turn.user.pending");
    this.log.insertBefore(element, pending);
  }

  #card(artifact) {
    const card = this.#artifacts.get(artifact.id) ?? h("aside", { class: "card-note", "data-card": artifact.id });
    this.#artifacts.set(artifact.id, card);
    const state = [artifact.title, artifact.version, artifact.kind, artifact.deleted_at].join("\n");
    if (card.dataset.state !== state) {
      card.dataset.state = state;
      card.setAttribute("aria-label", artifact.title);
      card.replaceChildren(
        ...(artifact.deleted_at ? this.#deleted(artifact) : [cardButton(artifact, () => this.on.onOpen(artifact.id))]),
      );
      card.classList.toggle("deleted", Boolean(artifact.deleted_at));
    }
    return card;
  }

  #deleted({ id, title }) {
    return [
      h("p", {}, gettext("“{title}” is deleted.", { title })),
      h(
        "button",
        {
          type: "button",
          class: "button quiet",
          onclick: () => this.on.onRestore(id),
          "aria-label": gettext("Restore “{title}”", { title }),
        },
        gettext("Restore"),
      ),
    ];
  }
}

function cardButton(artifact, onclick) {
  return h(
    "button",
    { type: "button", class: "card-button", onclick },
    icon(`kind-${artifact.kind}`),
    h("span", { class: "card-title", dir: "auto" }, artifact.title),
    h(
      "span",
      { class: "card-facts" },
      gettext("{artifact} · version {version}", { artifact: kindOf(artifact), version: artifact.version }),
    ),
  );
}

/** A preset at work: says how far it is, can be stopped, tells what went wrong and becomes the card of what it made. */
class Work {
  over = false;
  made = null;

  constructor(reply, name, kind, on) {
    this.reply = reply;
    this.name = name;
    this.kind = kind;
    this.on = on;
    this.progress = h("span", { class: "card-facts" }, gettext("Reading the conversation"));
    this.look = h(
      "button",
      { type: "button", class: "button quiet", hidden: true, onclick: () => on.onDraft(reply) },
      gettext("Look"),
    );
    this.element = h(
      "aside",
      { class: "card-note working", "aria-label": name, "aria-busy": "true" },
      h("span", { class: "dots", "aria-hidden": "true" }, h("i"), h("i"), h("i")),
      h(
        "span",
        { class: "card-words" },
        h("span", { class: "card-title" }, gettext("Writing “{name}”", { name })),
        this.progress,
      ),
      h(
        "span",
        { class: "card-actions" },
        this.look,
        h("button", { type: "button", class: "button quiet", onclick: () => on.onStop() }, gettext("Stop")),
      ),
    );
  }

  grew({ text }) {
    const words = text.trim() ? text.trim().split(/\s+/).length : 0;
    this.progress.textContent = words
      ? ngettext("{count} word so far", "{count} words so far", words)
      : gettext("Reading the conversation");
    this.look.hidden = !words;
  }

  thinking(seconds) {
    this.progress.textContent = thinkingFor(seconds);
  }

  ended(status, reply, artifact) {
    this.over = true;
    this.element.removeAttribute("aria-busy");
    this.element.classList.remove("working");
    if (artifact) {
      this.made = artifact.id;
      this.element.replaceChildren(cardButton(artifact, () => this.on.onOpen(artifact.id)));
      return;
    }
    const failed = status !== "stopped";
    this.element.classList.toggle("failed", failed);
    // Said of turns; here there is none.
    const words = failed ? noteOf(status, reply) : gettext("You stopped it. Nothing was saved.");
    this.element.replaceChildren(
      icon(failed ? "warn" : "stop"),
      h(
        "span",
        { class: "card-words" },
        h("span", { class: "card-title" }, this.name),
        h("span", { class: "card-facts" }, words || gettext("Nothing was made.")),
      ),
      waysOn(reply, this.on),
    );
  }
}
