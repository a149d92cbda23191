// j and k follow the page's own next and previous links; ? opens the list of keys.
const dialog = document.querySelector("dialog.ob-keys");
const follow = (rel) => document.querySelector(`a[rel="${rel}"]`)?.click();
const actions = { j: () => follow("next"), k: () => follow("prev"), "?": () => dialog.showModal() };

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
