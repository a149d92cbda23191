/** Threads dragged onto a project, out of it, or onto the pinned ones. The menu does the same without a mouse. */

const KIND = "application/x-openbook-threads";

/**
 * @param {HTMLElement} list
 * @param {{idsAt: (id: string) => string[], onDropped: (ids: string[], changes: Row) => void}} on
 *   `idsAt`: what moves where the row with this id is dragged
 */
export function wireDragging(list, { idsAt, onDropped }) {
  let target = null;
  const show = (element) => {
    target?.classList.remove("drop-here");
    target = element;
    target?.classList.add("drop-here");
  };
  list.addEventListener("dragstart", (event) => {
    const row = at(event, "[data-thread]");
    if (!row) return;
    event.dataTransfer.setData(KIND, JSON.stringify(idsAt(row.getAttribute("data-thread"))));
    event.dataTransfer.effectAllowed = "copyMove";
  });
  list.addEventListener("dragover", (event) => {
    if (!event.dataTransfer.types.includes(KIND)) return;
    const place = at(event, "[data-project], [data-drop]");
    show(place);
    if (place) event.preventDefault();
  });
  list.addEventListener("dragleave", (event) => {
    if (!list.contains(/** @type {Node} */ (event.relatedTarget))) show(null);
  });
  list.addEventListener("dragend", () => show(null));
  list.addEventListener("drop", (event) => {
    const place = at(event, "[data-project], [data-drop]");
    show(null);
    if (!place || !event.dataTransfer.types.includes(KIND)) return;
    event.preventDefault();
    onDropped(JSON.parse(event.dataTransfer.getData(KIND)), changesAt(place));
  });
}

/** @param {Element} place */
export function changesAt(place) {
  const project = place.getAttribute("data-project");
  if (project) return { project };
  return place.getAttribute("data-drop") === "pinned" ? { pinned: true } : { project: null, pinned: false };
}

function at(event, selector) {
  return event.target instanceof Element ? event.target.closest(selector) : null;
}
