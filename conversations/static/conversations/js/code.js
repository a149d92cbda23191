/** Code blocks: colours, the language's name and a copy button. */

import hljs from "highlight";

import { copyFrom, h, icon } from "./dom.js";
import { gettext } from "./language.js";

/** Above this, colouring would hold up the page for longer than it helps. */
const LONGEST_COLOURED = 60_000;
const LONGEST_LABEL = 80;

function languageOf(code) {
  return [...code.classList].find((name) => name.startsWith("language-"))?.slice("language-".length) ?? "";
}

/** Wraps each `pre` below the root; colours it unless it still grows. */
export function dressCode(root, { growing }) {
  for (const pre of root.querySelectorAll("pre")) {
    const code = pre.querySelector("code");
    if (!code) continue;
    const language = languageOf(code);
    const known = hljs.getLanguage(language);
    if (known && !growing && code.textContent.length < LONGEST_COLOURED) {
      const coloured = hljs.highlight(code.textContent, { language, ignoreIllegals: true });
      code.innerHTML = coloured.value; // highlight.js escapes the text and adds spans with classes only
    }
    pre.tabIndex = 0; // so that wide code can be scrolled by keyboard
    const copy = h(
      "button",
      { type: "button", class: "copy-code", onclick: () => copyFrom(copy, code.textContent) },
      icon("copy"),
      gettext("Copy"),
    );
    const frame = h(
      "div",
      { class: "code" },
      h(
        "div",
        { class: "code-head" },
        h("span", { class: "code-language" }, known?.name || language || gettext("Text")),
        copy,
      ),
    );
    pre.replaceWith(frame);
    frame.append(pre);
  }
}

/** Wide tables scroll inside themselves. What they are called tells several apart. */
export function dressTables(root) {
  for (const table of root.querySelectorAll("table")) {
    const columns = [...table.querySelectorAll("th")].map((head) => head.textContent.trim()).filter(Boolean);
    const label = [gettext("Table"), columns.join(", ").slice(0, LONGEST_LABEL)].filter(Boolean).join(": ");
    const frame = h("div", { class: "table", tabindex: 0, role: "region", "aria-label": label });
    table.replaceWith(frame);
    frame.append(table);
  }
}
