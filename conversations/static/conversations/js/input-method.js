// A plain script in the head, before all others that hear of keys: what is pressed to choose among the words of an
// input method (Japanese, Chinese, Korean …) is not for the page. Safari tells of it by the code 229 alone.
addEventListener(
  "keydown",
  (event) => {
    if (event.isComposing || event.keyCode === 229) event.stopImmediatePropagation();
  },
  true,
);
