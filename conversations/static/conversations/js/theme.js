/** System, light or dark. early-theme.js applies the choice before the first paint. */

const KEY = "openbook:theme";

export function wireTheme(root) {
  const chosen = document.documentElement.dataset.theme ?? "";
  for (const input of root.querySelectorAll("input[name=theme]")) {
    input.checked = input.value === chosen;
    input.addEventListener("change", () => choose(input.value));
  }
}

function choose(theme) {
  dispatchEvent(new CustomEvent("themechosen", { detail: theme }));
  try {
    localStorage.setItem(KEY, theme);
  } catch (error) {
    console.info("This browser keeps no settings; the theme lasts until you leave.", error);
  }
}
