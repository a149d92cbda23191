/** The pages of the web under an answer: what it read, and what its searches found. */

import { h, icon } from "./dom.js";
import { gettext, ngettext } from "./language.js";

const MOST_SHOWN = 3;

/**
 * @param {Source[]} sources what was read comes first
 * @returns {HTMLElement | null}
 */
export function sourceList(sources) {
  if (!sources.length) return null;
  const rest = sources.slice(MOST_SHOWN);
  const more = ngettext("{count} more source", "{count} more sources", rest.length, { count: rest.length });
  return named(
    list(sources.slice(0, MOST_SHOWN)),
    rest.length > 0 && h("details", {}, h("summary", {}, more, icon("choose")), list(rest)),
  );
}

/**
 * For paper, which nothing can be unfolded on.
 * @param {Source[]} sources
 * @returns {Node[]}
 */
export function wholeSourceList(sources) {
  return sources.length ? [named(list(sources))] : [];
}

function named(...lists) {
  return h("nav", { class: "turn-sources", "aria-label": gettext("Sources") }, ...lists);
}

function list(sources) {
  return h("ul", {}, ...sources.map((source) => h("li", {}, linkTo(source))));
}

/** @param {Source} source */
function linkTo({ title, url, host, read }) {
  const words = read ? gettext("Read for this answer") : gettext("Found by a search");
  return h(
    "a",
    { href: url, target: "_blank", rel: "noopener noreferrer", title: `${words}: ${url}` },
    icon(read ? "file" : "search"),
    h("bdi", { class: "source-title" }, title),
    title === host ? "" : h("bdi", { class: "source-host" }, host),
  );
}
