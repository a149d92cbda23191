// Runs first in the frame of a page. WebRTC obeys no policy that browsers know yet (`webrtc 'block'` is to come), so it goes; and
// with it every frame within, as each would bring a WebRTC of its own.
(() => {
  const inner = "iframe, frame, object, embed, fencedframe, portal";
  for (const name of Object.getOwnPropertyNames(window)) if (/^(webkit)?RTC|^WebTransport/.test(name)) delete window[name];
  for (const owner of [Element.prototype, ShadowRoot.prototype, Document]) for (const name of ["setHTMLUnsafe", "parseHTMLUnsafe"]) delete owner[name];
  const { write, writeln } = Document.prototype;
  const tamed = (texts) => texts.map((text) => String(text).replace(/shadowroot/gi, "data-shadow"));
  Document.prototype.write = function (...texts) { write.apply(this, tamed(texts)); };
  Document.prototype.writeln = function (...texts) { writeln.apply(this, tamed(texts)); };
  const watcher = new MutationObserver((changes) => {
    for (const { addedNodes } of changes)
      for (const node of addedNodes)
        if (node instanceof Element) for (const each of [node, ...node.querySelectorAll(inner)]) if (each.matches(inner)) each.remove();
  });
  const watch = (root) => watcher.observe(root, { childList: true, subtree: true });
  const { attachShadow } = Element.prototype;
  Element.prototype.attachShadow = function (options) {
    const root = attachShadow.call(this, options);
    watch(root);
    return root;
  };
  watch(document);
  document.currentScript.remove();
})();
