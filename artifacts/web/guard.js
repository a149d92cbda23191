// Runs first in the frame of a page whose scripts a person chose to run, and takes away what no policy reaches: WebRTC,
// and each way to a frame within, which would bring a WebRTC of its own. What it uses later is taken before the page's
// first byte and can't be replaced: regular expressions are frozen, the rest are constants here. Markup goes through
// the default policy of Trusted Types, which the header requires; the server has renamed the same elements in the page
// itself.
(() => {
  "use strict";
  const { apply } = Reflect;
  const { replace } = String.prototype;
  const { test } = RegExp.prototype;
  const { createElement, createElementNS } = Document.prototype;
  const { parseFromString } = DOMParser.prototype;
  const { define } = CustomElementRegistry.prototype;
  const LEADS_OUT = /^(?:[^:]*:)?(?:iframe|frame|frameset|object|applet|embed|fencedframe|portal|meta|link|base)$/i;
  const MARKUP =
    /<(\/?)(?=(?:[^\s<>/:]*:)?(?:iframe|frame|frameset|object|applet|embed|fencedframe|portal|meta|link|base)[\s/>])/gi;
  const HALF_A_TAG = /<(?=[^\s<>]*$)/; // what is written in pieces ends with a tag's name at least
  // not an address that begins with javascript:
  const OF_AN_ELEMENT = /^(?:Element|HTMLScriptElement|SVGScriptElement) /;
  Object.freeze(RegExp.prototype);

  const markup = (text) => apply(replace, apply(replace, text, [MARKUP, "<$1x-"]), [HALF_A_TAG, "&lt;"]);
  const name = (text) => (apply(test, LEADS_OUT, [text]) ? "x-frame" : text);
  trustedTypes.createPolicy("default", {
    createHTML: markup,
    createScript: (text, type, sink) => (apply(test, OF_AN_ELEMENT, [sink]) ? text : null),
    createScriptURL: () => null,
  });

  const hold = (owner, key, value) =>
    Object.defineProperty(owner, key, { value, writable: false, configurable: false });
  hold(Document.prototype, "createElement", function (tag) {
    return apply(createElement, this, [name(`${tag}`)]);
  });
  hold(Document.prototype, "createElementNS", function (space, tag) {
    return apply(createElementNS, this, [space, name(`${tag}`)]);
  });
  // Another type is another parser, in which a name can be made of entities.
  hold(DOMParser.prototype, "parseFromString", function (text) {
    return apply(parseFromString, this, [text, "text/html"]);
  });
  // Without options: an element that extends an iframe is one.
  hold(CustomElementRegistry.prototype, "define", function (tag, element) {
    return apply(define, this, [tag, element]);
  });
  for (const key of Object.getOwnPropertyNames(window))
    if (/^(webkit)?RTC|^WebTransport|^XSLT/.test(key)) delete window[key];
  for (const owner of [Element.prototype, ShadowRoot.prototype, Document, Document.prototype])
    for (const key of ["setHTML", "setHTMLUnsafe", "parseHTML", "parseHTMLUnsafe", "execCommand"]) delete owner[key];
  document.currentScript.remove();
})();
