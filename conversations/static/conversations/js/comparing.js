/** Two versions of a turn beside one another. */

import { Parts } from "../../artifacts/js/parts.js";
import { api } from "./api.js";
import { h, iconButton } from "./dom.js";
import { gettext } from "./language.js";
import { fullTime } from "./words.js";

/** @param {string} thread @param {string} id @returns {Promise<Message>} a turn, on whatever path it stands */
async function turnOf(thread, id) {
  const page = await api.get(`threads/${thread}/messages/?path=${id}&before=end&page_size=1`);
  return page.results.at(-1);
}

/**
 * A dialog with two versions; each can be exchanged for another one, and chosen.
 * @param {string} thread
 * @param {Message} message the version that is shown
 * @param {{nameOfModel: (id: string, provider?: string) => string, onVersion: (id: string) => void,
 *   onError: (words: string) => void}} on
 */
export function compareVersions(thread, message, { nameOfModel, onVersion, onError }) {
  const { versions } = message;
  const here = versions.indexOf(message.id);
  const first = message.version - here;
  const other = here > 0 ? here - 1 : here + 1;
  const dialog = h("dialog", { class: "sheet compare", "aria-labelledby": "compare-title" });
  const close = () => dialog.close();
  const column = (place) => {
    const body = h("div", { class: "parts compare-body", "aria-live": "polite" });
    const about = h("p", { class: "quiet" });
    const choose = h(
      "button",
      { type: "button", class: "button", onclick: () => (close(), onVersion(versions[picker.selectedIndex])) },
      gettext("Go on with this one"),
    );
    const picker = h(
      "select",
      { "aria-label": gettext("Which answer"), onchange: () => show(picker.selectedIndex) },
      ...versions.map((_, index) =>
        h("option", { selected: index === place }, gettext("Answer {number}", { number: first + index })),
      ),
    );
    const show = async (index) => {
      const turn = await turnOf(thread, versions[index]).catch((error) => onError(error.message));
      if (!turn || picker.selectedIndex !== index) return;
      const model = turn.model ? nameOfModel(turn.model, turn.reply?.provider) : "";
      about.textContent = [model, fullTime(turn.created_at)].filter(Boolean).join(" · ");
      body.replaceChildren();
      new Parts(body, { onShown: () => {}, onArtifact: () => {}, onDraft: () => {} }).finish(turn.content);
      choose.disabled = turn.id === message.id;
    };
    show(place);
    return h("section", { class: "compare-side" }, picker, about, body, choose);
  };
  dialog.append(
    h(
      "header",
      { class: "sheet-head" },
      h("h2", { id: "compare-title", tabindex: "-1", autofocus: true }, gettext("Two answers beside one another")),
      iconButton("close", gettext("Close"), close),
    ),
    h("div", { class: "compare-sides" }, column(Math.min(here, other)), column(Math.max(here, other))),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
