/** Small helpers around the DOM. */

import { gettext } from "./language.js";

/**
 * The element with this id, which the template promises. Its kind is known to the caller alone.
 * @param {string} id
 * @returns {any}
 */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`The page has no element #${id}.`);
  return element;
}

/**
 * An element with attributes, listeners (`onclick: f`) and children; empty attributes and children are left out.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Node | string | null | undefined | false)} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child || child === "") element.append(child);
  return element;
}

/** @param {ParentNode} parent @param {string} selector @returns {HTMLElement[]} */
export function elements(parent, selector) {
  return [...parent.querySelectorAll(selector)].filter((element) => element instanceof HTMLElement);
}

const SVG = "http://www.w3.org/2000/svg";

/** One of the symbols in icons.html. */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  const use = document.createElementNS(SVG, "use");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  use.setAttribute("href", `#icon-${name}`);
  svg.append(use);
  return svg;
}

export function iconButton(name, label, onclick, extra = {}) {
  return h(
    "button",
    { type: "button", class: "icon-button", "aria-label": label, title: label, onclick, ...extra },
    icon(name),
  );
}

/** Copies, and says so on the button for two seconds. */
export async function copyFrom(button, text) {
  const done = await copied(text);
  const [name, label] = done ? ["check", gettext("Copied")] : ["warn", gettext("Copying is not allowed here")];
  const before = { children: [...button.childNodes], label: button.getAttribute("aria-label") };
  button.replaceChildren(icon(name), ...(button.classList.contains("icon-button") ? [] : [label]));
  button.setAttribute("aria-label", label);
  // A name that changes is not read out by all screen readers.
  document.getElementById("announcer")?.append(h("p", {}, `${label}.`));
  setTimeout(() => {
    button.replaceChildren(...before.children);
    if (before.label) button.setAttribute("aria-label", before.label);
    else button.removeAttribute("aria-label");
  }, 2000);
}

/** The clipboard API exists in secure contexts only; plain-http hosts get the old way. */
async function copied(text) {
  if (navigator.clipboard) {
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  }
  const area = h("textarea", { class: "visually-hidden" });
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}
