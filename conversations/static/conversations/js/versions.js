/** Versions of a turn: which of them is shown, and the ways to the others. */

import { h, iconButton } from "./dom.js";
import { gettext } from "./language.js";

/**
 * ‹ 2/3 ›, where there are several; else nothing.
 * @param {Message} message
 * @param {{onVersion: (id: string) => void, onCompare?: (message: Message) => void}} on
 * @returns {HTMLElement | null}
 */
export function versionSwitch(message, { onVersion, onCompare }) {
  const { versions = [], version: number, version_count: count } = message;
  if (versions.length < 2) return null;
  const place = versions.indexOf(message.id);
  const step = (symbol, label, to) =>
    iconButton(symbol, label, () => versions[to] && onVersion(versions[to]), {
      class: "icon-button version-step",
      disabled: !versions[to],
    });
  const words = gettext("Version {number} of {count}", { number, count });
  return h(
    "span",
    { class: "versions", role: "group", "aria-label": words },
    step("before", gettext("Previous version"), place - 1),
    h("span", { class: "version-count", title: words, "aria-hidden": "true" }, `${number}/${count}`),
    step("next", gettext("Next version"), place + 1),
    onCompare &&
      iconButton("changes", gettext("Show two answers beside one another"), () => onCompare(message), {
        class: "icon-button version-compare",
      }),
  );
}
