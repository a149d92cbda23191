// j and k follow the page's own next and previous links, d the one that compares; ? opens the list of keys.
/** @type {HTMLDialogElement | null} */
const dialog = document.querySelector("dialog.ob-keys");
const follow = (link) => /** @type {HTMLElement | null} */ (document.querySelector(link))?.click();
const actions = {
  j: () => follow('a[rel="next"]'),
  k: () => follow('a[rel="prev"]'),
  d: () => follow('a[data-key="d"]'),
  "?": () => dialog.showModal(),
};

function isTyping(target) {
  return target instanceof Element && target.closest("input, textarea, select, [contenteditable]") !== null;
}

if (dialog) {
  document.querySelector(".ob-keys-button").addEventListener("click", () => dialog.showModal());
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || dialog.open || isTyping(event.target)) return;
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}
