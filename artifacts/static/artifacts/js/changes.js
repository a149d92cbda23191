/** What changed in an artifact from one version to another. */

import { h } from "../../conversations/js/dom.js";
import { gettext } from "../../conversations/js/language.js";
import { renderDifference } from "./difference.js";
import { versionLine } from "./naming.js";

/**
 * @param {{version: number, content: string}} old
 * @param {{version: number, content: string}} current
 * @param {{version: number, origin: string, created_at: string}[]} versions all of them
 * @param {(version: number) => void} onFrom another one to compare with is chosen
 * @returns {HTMLElement[]} `#panel-from` among them chooses
 */
export function changesBetween(old, current, versions, onFrom) {
  const others = versions.filter(({ version }) => version !== current.version);
  const choice = h(
    "select",
    { id: "panel-from", onchange: () => onFrom(Number(choice.value)) },
    ...others.map((version) => h("option", { value: version.version }, versionLine(version))),
  );
  choice.value = String(old.version);
  return [
    h("div", { class: "compared" }, h("label", { for: "panel-from" }, gettext("Compared with")), choice),
    renderDifference(old.content, current.content),
  ];
}
