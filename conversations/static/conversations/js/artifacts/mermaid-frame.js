// A plain script within the sandboxed frame: draws the diagram, or says why it can't. A module would need CORS, as the frame has
// no origin.
(async () => {
  const source = document.getElementById("source").textContent;
  const dark = document.documentElement.dataset.theme === "dark";
  // The page's own paper, ink and accent. The theme "base" is the one that takes them.
  const colours = dark
    ? { darkMode: true, background: "#191816", primaryColor: "#1f2f2c", primaryTextColor: "#ece8e0", primaryBorderColor: "#86c9be", lineColor: "#a8a195", secondaryColor: "#2e2517", tertiaryColor: "#211f1c" }
    : { background: "#fdfcfa", primaryColor: "#e6efec", primaryTextColor: "#201e1a", primaryBorderColor: "#1d5c57", lineColor: "#656056", secondaryColor: "#fbf1e2", tertiaryColor: "#f5f2ec" };
  mermaid.initialize({ startOnLoad: false, securityLevel: "strict", theme: "base", themeVariables: colours, suppressErrorRendering: true });
  try {
    const { svg } = await mermaid.render("drawing", source);
    document.getElementById("diagram").innerHTML = svg; // cleaned by Mermaid, and the policy of this page lets no script in
  } catch (error) {
    document.getElementById("diagram").hidden = true;
    document.getElementById("why").textContent = error.message;
    document.getElementById("failed").hidden = false;
  }
})();
