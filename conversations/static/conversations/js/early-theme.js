// A plain script in the head, before the style sheets: a module would run after the first paint and flash.
(() => {
  const COLOURS = { light: "#fdfcfa", dark: "#191816" }; // of paper, for what the browser draws around the page

  /** @param {string} theme `light`, `dark`, or none: as the system has it */
  function show(theme) {
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    for (const meta of document.querySelectorAll("meta[name=theme-color]")) {
      if (meta instanceof HTMLMetaElement) meta.content = COLOURS[theme || meta.dataset.scheme];
    }
  }

  addEventListener("themechosen", (event) => show(/** @type {CustomEvent} */ (event).detail));
  try {
    const theme = localStorage.getItem("openbook:theme");
    if (theme === "light" || theme === "dark") show(theme);
  } catch (error) {
    console.info("This browser keeps no settings; the theme follows the system.", error);
  }
})();
