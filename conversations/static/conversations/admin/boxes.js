// Django's boxes to choose from several name a picture that has no role, so that screen readers may not say its name.
addEventListener("load", () => {
  for (const picture of document.querySelectorAll(".help-tooltip[aria-label]:not([role])")) {
    picture.setAttribute("role", "img");
  }
});
