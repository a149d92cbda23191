// A plain script in the head: where another script of the page can't be loaded, it says so. Else nothing would happen.
addEventListener(
  "error",
  ({ target }) => {
    if (!(target instanceof HTMLScriptElement)) return;
    const words = document.createElement("p");
    const again = document.createElement("a");
    again.href = "";
    again.textContent = "Load it again";
    words.className = "noscript";
    words.setAttribute("role", "alert");
    words.append("This page was not loaded completely, so that it can't be used. ", again);
    const show = () => document.querySelector(".noscript[role]") ?? document.body.prepend(words);
    if (document.body) show();
    else addEventListener("DOMContentLoaded", show);
  },
  true,
);
