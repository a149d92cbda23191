/** The page on which people keep their prompts. */

import { api } from "./api.js";
import { confirmed } from "./dialogs.js";
import { byId, h } from "./dom.js";
import { gettext } from "./language.js";

const dialog = byId("edit");
const name = byId("name");
const text = byId("prompt-text");

async function load() {
  try {
    const { results } = await api.get("prompts/");
    const own = results.filter(({ shared }) => !shared);
    const shared = results.filter((prompt) => prompt.shared);
    const none = h("li", { class: "quiet" }, gettext("None yet."));
    byId("own-list").replaceChildren(...(own.length ? own.map(ownRow) : [none]));
    byId("shared-list").replaceChildren(...shared.map(sharedRow));
    byId("shared").hidden = !shared.length;
    tell("");
  } catch (error) {
    tell(error.message);
  }
}

function tell(words) {
  byId("problem").textContent = words;
  byId("problem").hidden = !words;
}

function ownRow(prompt) {
  const edit = button(gettext("Edit"), prompt, () => open(prompt));
  const remove = button(gettext("Delete…"), prompt, () => ask(prompt));
  return row(prompt, edit, remove);
}

function sharedRow(prompt) {
  const copy = button(gettext("Make it mine"), prompt, () => open({ name: prompt.name, text: prompt.text }));
  return row(prompt, copy);
}

function row(prompt, ...actions) {
  return h(
    "li",
    {},
    h("p", { class: "prompt-name", dir: "auto" }, prompt.name),
    h("p", { class: "prompt-text", dir: "auto" }, prompt.text),
    h("div", { class: "prompt-actions" }, ...actions),
  );
}

function button(words, prompt, onclick) {
  const hidden = h("span", { class: "visually-hidden" }, ` “${prompt.name}”`);
  return h("button", { type: "button", class: "button", onclick }, words, hidden);
}

/** @param {{id?: string, name: string, text: string}} prompt without an id it is a new one */
function open(prompt) {
  byId("edit-title").textContent = prompt.id ? gettext("Edit prompt") : gettext("New prompt");
  byId("edit-problem").hidden = true;
  name.value = prompt.name;
  text.value = prompt.text;
  byId("edit-form").onsubmit = async (event) => {
    event.preventDefault();
    const values = { name: name.value, text: text.value };
    try {
      await (prompt.id ? api.patch(`prompts/${prompt.id}/`, values) : api.post("prompts/", values));
      dialog.close();
      await load();
    } catch (error) {
      byId("edit-problem").textContent = error.message; // what was typed stays
      byId("edit-problem").hidden = false;
    }
  };
  dialog.showModal();
  name.focus();
}

async function ask(prompt) {
  const question = {
    title: gettext("Delete this prompt?"),
    text: gettext("“{name}” is deleted. This can't be undone.", { name: prompt.name }),
    yes: gettext("Delete prompt"),
  };
  if (!(await confirmed(question))) return;
  try {
    await api.delete(`prompts/${prompt.id}/`);
    await load();
  } catch (error) {
    tell(error.message);
  }
}

byId("new").addEventListener("click", () => open({ name: "", text: "" }));
byId("cancel").addEventListener("click", () => dialog.close());
load();
