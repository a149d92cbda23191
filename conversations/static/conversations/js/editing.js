/** A message of the person's, edited in its place. What was typed stays until it is sent or given up. */

import { h } from "./dom.js";
import { gettext } from "./language.js";

/**
 * @param {HTMLElement} bubble which the editor stands in for
 * @param {string} text
 * @param {{onSend: (text: string) => void, onEnd: () => void}} on
 */
export function editInPlace(bubble, text, { onSend, onEnd }) {
  const label = gettext("Edit your message");
  const field = h("textarea", { class: "edit-text", rows: "1", dir: "auto", "aria-label": label });
  field.value = text;
  const send = h("button", { type: "submit", class: "button primary" }, gettext("Send"));
  const cancel = h("button", { type: "button", class: "button", onclick: () => end() }, gettext("Cancel"));
  const form = h(
    "form",
    { class: "edit-message" },
    field,
    h("p", { class: "quiet" }, gettext("What follows stays, as another version.")),
    h("div", { class: "edit-actions" }, cancel, send),
  );
  const fit = () => {
    field.style.blockSize = "auto";
    field.style.blockSize = `${field.scrollHeight}px`;
    send.disabled = !field.value.trim();
  };
  const end = () => {
    form.replaceWith(bubble);
    onEnd();
  };
  field.addEventListener("input", fit);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      event.preventDefault();
      end();
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      form.requestSubmit();
    }
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!field.value.trim()) return;
    const words = field.value;
    end();
    onSend(words);
  });
  bubble.replaceWith(form);
  fit();
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
}
