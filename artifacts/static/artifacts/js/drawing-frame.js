// A plain script within a frame of our own that the page opens to have a diagram drawn: a text comes in, a picture goes
// out. A module would need CORS, as the frame has no origin.
(() => {
  // The page's own paper, ink and accent. The theme "base" is the one that takes them.
  const LIGHT = {
    background: "#fdfcfa",
    primaryColor: "#e6efec",
    primaryTextColor: "#201e1a",
    primaryBorderColor: "#1d5c57",
    lineColor: "#656056",
    secondaryColor: "#fbf1e2",
    tertiaryColor: "#f5f2ec",
  };
  const DARK = {
    darkMode: true,
    background: "#191816",
    primaryColor: "#1f2f2c",
    primaryTextColor: "#ece8e0",
    primaryBorderColor: "#86c9be",
    lineColor: "#a8a195",
    secondaryColor: "#2e2517",
    tertiaryColor: "#211f1c",
  };

  // Labels are text, which every browser draws within an image. What would make them bold is left out, <br> is
  // understood.
  const BOLD = /<\/?(?:b|i|u|em|strong|small|span)(?:\s[^<>]*)?>/gi;

  async function draw({ source, dark }) {
    mermaid.initialize({
      startOnLoad: false,
      securityLevel: "strict",
      htmlLabels: false,
      flowchart: { htmlLabels: false },
      theme: "base",
      themeVariables: dark ? DARK : LIGHT,
      suppressErrorRendering: true,
    });
    const { svg } = await mermaid.render("drawing", source.replace(BOLD, ""));
    return picture(svg);
  }

  /** As XML of its own size: what an <img> takes. */
  function picture(markup) {
    const svg = new DOMParser().parseFromString(markup, "text/html").querySelector("svg");
    const [, , width, height] = (svg.getAttribute("viewBox") ?? "0 0 300 150").split(/[\s,]+/);
    svg.style.maxWidth = "";
    svg.setAttribute("width", width);
    svg.setAttribute("height", height);
    const words = [...svg.querySelectorAll(":scope > title, :scope > desc")].map((element) =>
      element.textContent.trim(),
    );
    return { svg: new XMLSerializer().serializeToString(svg), words: words.filter(Boolean).join(". ") };
  }

  addEventListener("message", async ({ source, data }) => {
    if (source !== parent) return;
    const answer = await draw(data).catch((error) => ({ why: error.message }));
    parent.postMessage(answer, "*"); // this frame has no origin, and is shown in our own pages only
  });
  parent.postMessage("ready", "*");
})();
