/** The dialog of a thread's own instructions, and whether the person's own hold in it. */

import { api } from "./api.js";
import { byId } from "./dom.js";
import { nameOfThread } from "./thread-row.js";

/**
 * @param {Thread} thread
 * @returns {Promise<Thread | null>} as it is then; null: nothing was changed
 */
export async function editInstructions(thread) {
  const { instructions, uses_account_instructions: usesOwn } = await api.get(`threads/${thread.id}/`);
  const dialog = byId("instructions-dialog");
  const text = byId("instructions-text");
  const own = byId("instructions-own");
  const problem = byId("instructions-problem");
  byId("instructions-about").textContent = `“${nameOfThread(thread)}”`;
  text.value = instructions;
  own.checked = usesOwn;
  problem.hidden = true;
  dialog.showModal();
  return new Promise((resolve) => {
    let changed = null;
    byId("instructions-form").onsubmit = async (event) => {
      event.preventDefault();
      const changes = { instructions: text.value.trim(), uses_account_instructions: own.checked };
      try {
        changed = await api.patch(`threads/${thread.id}/`, changes);
        dialog.close();
      } catch (error) {
        problem.textContent = error.message; // what was typed stays
        problem.hidden = false;
        text.focus();
      }
    };
    byId("instructions-cancel").onclick = () => dialog.close();
    dialog.addEventListener("close", () => resolve(changed), { once: true });
  });
}
