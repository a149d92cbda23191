/** One note of the list: filled from the API's object, edited in place, forgotten after a question. */

import { api } from "../../conversations/js/api.js";
import { byId, h } from "../../conversations/js/dom.js";
import { gettext } from "../../conversations/js/language.js";
import { endOf, originOf } from "./words.js";

const MOST_EARLIER = 100;

/** @returns {HTMLLIElement} the note as the server renders it */
export function noteOf(memory, day) {
  const element = byId("note-template").content.firstElementChild.cloneNode(true);
  const { id, content, source, tags, project, valid_until: until } = memory;
  const ended = endOf(memory, day);
  const words = originOf(memory, day);
  const isWide = project || tags.some((tag) => tag.startsWith("user:"));
  const thread = isWide ? null : tags.find((tag) => tag.startsWith("thread:"));
  element.id = `memory-${id}`;
  element.dataset.memory = id;
  element
    .querySelector(".note-from")
    .replaceChildren(
      source ? h("a", { href: `/threads/${source.thread}/#turn-${source.position}` }, words) : h("span", {}, words),
      ...(project
        ? [
            h(
              "span",
              { class: "note-mark note-project" },
              h("a", { href: `/projects/${project.id}/`, dir: "auto" }, project.name),
            ),
          ]
        : []),
      ...(thread
        ? [
            h(
              "span",
              { class: "note-mark" },
              h("a", { href: `/threads/${thread.slice("thread:".length)}/` }, gettext("only in one conversation")),
            ),
          ]
        : []),
      ...(until && !ended ? [h("span", { class: "note-mark" }, gettext("until {until}", { until: day(until) }))] : []),
    );
  element.classList.toggle("ended", Boolean(ended));
  element.querySelector(".note-ended").textContent = ended;
  element.querySelector(".note-ended").hidden = !ended;
  element.querySelector("[data-act=restore]").hidden = !ended;
  element.querySelector("[data-act=edit]").hidden = Boolean(ended);
  write(element, content);
  offerHistory(element, memory, day);
  return element;
}

/** What the note took the place of is read once somebody unfolds it. */
function offerHistory(element, { id, supersedes }, day) {
  const fold = element.querySelector(".note-history");
  fold.hidden = !supersedes.length;
  fold.open = false;
  fold.querySelector("summary .quiet").textContent = "";
  fold.ontoggle = async () => {
    if (!fold.open) return;
    const list = fold.querySelector("ul");
    try {
      const { results } = await api.get(`memories/?history=${id}&page_size=${MOST_EARLIER}`);
      list.replaceChildren(...results.map((earlier) => earlierOf(earlier, day)));
      fold.ontoggle = null;
    } catch (failure) {
      list.replaceChildren(h("li", { class: "field-error", role: "alert" }, failure.message));
    }
  };
}

function earlierOf(memory, day) {
  const element = noteOf(memory, day);
  element.querySelector(".note-history").remove();
  return element;
}

export function textOf(element) {
  return element.querySelector(".note-text").textContent;
}

/** Puts a field in the place of the note's words, until they are saved or kept. */
export function edit(element, { day, onSaved }) {
  if (element.querySelector("form")) return;
  const before = textOf(element);
  const shown = [...element.children];
  const field = h("textarea", { rows: 2, maxlength: 10_000, dir: "auto", "aria-label": gettext("What is remembered") });
  const error = h("p", { class: "field-error", role: "alert", hidden: true });
  const save = h("button", { type: "submit", class: "button primary" }, gettext("Save"));
  const cancel = h("button", { type: "button", class: "button", onclick: () => leave() }, gettext("Cancel"));
  const form = h("form", { class: "note-edit" }, field, error, h("div", { class: "note-edit-actions" }, save, cancel));
  const leave = () => {
    form.remove();
    for (const child of shown) child.hidden = false;
    element.querySelector("[data-act=edit]").focus();
  };
  const saved = async (event) => {
    event.preventDefault();
    const content = field.value.trim();
    if (content === before) return leave();
    save.disabled = true;
    try {
      const memory = await api.patch(`memories/${element.dataset.memory}/`, { content });
      write(element, memory.content);
      offerHistory(element, memory, day);
      leave();
      onSaved();
    } catch (failure) {
      error.textContent = failure.message;
      error.hidden = false;
      field.focus();
    }
    save.disabled = false;
    return undefined;
  };
  form.addEventListener("submit", saved);
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") leave();
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  field.value = before;
  for (const child of shown) child.hidden = true;
  element.append(form);
  field.focus();
  field.setSelectionRange(before.length, before.length);
}

function write(element, content) {
  element.querySelector(".note-text").textContent = content;
  const short = content.length > 80 ? `${content.slice(0, 79)}…` : content;
  for (const [act, word] of [
    ["restore", gettext("Bring back")],
    ["edit", gettext("Edit")],
    ["forget", gettext("Forget")],
  ]) {
    element.querySelector(`[data-act=${act}]`).setAttribute("aria-label", `${word}: ${short}`);
  }
}
