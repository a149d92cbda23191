/** One note of the list: filled from the API's object, edited in place, forgotten after a question. */

import { api } from "../../conversations/js/api.js";
import { byId, h } from "../../conversations/js/dom.js";
import { gettext } from "../../conversations/js/language.js";
import { originOf } from "./words.js";

/** @returns {HTMLLIElement} the note as the server renders it */
export function noteOf(memory, day) {
  const element = byId("note-template").content.firstElementChild.cloneNode(true);
  const { id, content, source, tags, project, valid_until: until } = memory;
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
      ...(until ? [h("span", { class: "note-mark" }, gettext("until {until}", { until: day(until) }))] : []),
    );
  write(element, content);
  return element;
}

export function textOf(element) {
  return element.querySelector(".note-text").textContent;
}

/** Puts a field in the place of the note's words, until they are saved or kept. */
export function edit(element, { onSaved }) {
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
    ["edit", gettext("Edit")],
    ["forget", gettext("Forget")],
  ]) {
    element.querySelector(`[data-act=${act}]`).setAttribute("aria-label", `${word}: ${short}`);
  }
}
