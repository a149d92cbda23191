/** The dialog of tags, of one thread or of several: a box for each tag, and a field for new ones. */

import { api } from "./api.js";
import { byId, h } from "./dom.js";
import { ngettext } from "./language.js";
import { nameOfThread } from "./thread-row.js";

/**
 * The tags that are offered, each with whether all, some or none of the threads have it.
 * @param {Thread[]} threads @param {string[]} known
 * @returns {{tag: string, has: "all" | "some" | "none"}[]}
 */
export function offered(threads, known) {
  const names = new Set([...known, ...threads.flatMap(({ tags }) => tags ?? [])]);
  const having = (tag) => threads.filter(({ tags }) => (tags ?? []).includes(tag)).length;
  return [...names]
    .sort((one, other) => one.localeCompare(other))
    .map((tag) => ({ tag, has: having(tag) === threads.length ? "all" : having(tag) ? "some" : "none" }));
}

/**
 * What the boxes and the field ask for.
 * @param {{tag: string, has: string, checked: boolean, mixed: boolean}[]} boxes
 * @param {string} written new tags, separated by commas
 */
export function changesOf(boxes, written) {
  const touched = boxes.filter(({ mixed }) => !mixed);
  const fresh = written.split(/[,،、，]/).map((tag) => tag.trim());
  return {
    add_tags: [
      ...touched.filter(({ has, checked }) => checked && has !== "all").map(({ tag }) => tag),
      ...fresh.filter(Boolean),
    ],
    remove_tags: touched.filter(({ has, checked }) => !checked && has !== "none").map(({ tag }) => tag),
  };
}

/**
 * @param {Thread[]} threads
 * @returns {Promise<Thread[] | null>} as they are then; null: nothing was changed
 */
export async function editTags(threads) {
  const { results } = await api.get("tags/");
  const dialog = byId("tags-dialog");
  const field = byId("tags-new");
  const problem = byId("tags-problem");
  byId("tags-about").textContent =
    threads.length === 1
      ? `“${nameOfThread(threads[0])}”`
      : ngettext("{count} conversation", "{count} conversations", threads.length);
  const boxes = offered(
    threads,
    results.map(({ tag }) => tag),
  ).map(box);
  byId("tags-known").replaceChildren(...boxes.map(({ element }) => element));
  field.value = "";
  problem.hidden = true;
  dialog.showModal();
  return new Promise((resolve) => {
    let changed = null;
    byId("tags-form").onsubmit = async (event) => {
      event.preventDefault();
      const changes = changesOf(
        boxes.map(({ tag, has, input }) => ({ tag, has, checked: input.checked, mixed: input.indeterminate })),
        field.value,
      );
      try {
        changed = await save(threads, changes);
        dialog.close();
      } catch (error) {
        problem.textContent = error.message; // what was typed stays
        problem.hidden = false;
        field.focus();
      }
    };
    byId("tags-cancel").onclick = () => dialog.close();
    dialog.addEventListener("close", () => resolve(changed), { once: true });
  });
}

async function save(threads, changes) {
  if (!changes.add_tags.length && !changes.remove_tags.length) return null;
  const { results } = await api.patch("threads/", { ids: threads.map(({ id }) => id), ...changes });
  return results;
}

function box({ tag, has }) {
  const input = h("input", { type: "checkbox", checked: has === "all" });
  input.indeterminate = has === "some";
  return { tag, has, input, element: h("label", { class: "tick" }, input, h("span", { dir: "auto" }, tag)) };
}
