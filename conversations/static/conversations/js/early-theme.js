// A plain script in the head, before the style sheets: a module would run after the first paint and flash.
try {
  const theme = localStorage.getItem("openbook:theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch (error) {
  console.info("This browser keeps no settings; the theme follows the system.", error);
}
