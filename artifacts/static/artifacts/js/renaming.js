/** The title of the panel becomes a field. */

import { h } from "../../conversations/js/dom.js";
import { gettext } from "../../conversations/js/language.js";

/**
 * @param {HTMLElement} heading which the field stands in for
 * @param {string} title
 * @param {(title: string | null) => void} onEnd null: it stays as it is
 */
export function renameInPlace(heading, title, onEnd) {
  const label = gettext("Title");
  const field = h("input", { class: "panel-rename", "aria-label": label, maxlength: 200, value: title, dir: "auto" });
  let done = false;
  const end = (keep) => {
    if (done) return;
    done = true;
    field.replaceWith(heading);
    const words = field.value.trim();
    onEnd(keep && words && words !== title ? words : null);
  };
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    end(event.key === "Enter");
  });
  field.addEventListener("blur", () => end(true));
  heading.replaceWith(field);
  field.focus();
  field.select();
}
