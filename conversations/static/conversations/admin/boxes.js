// Django's boxes to choose from several name a picture that has no role, so that screen readers may not say its
// name; and the boxes that delete a row of a table have no name but the head of their column.
addEventListener("load", () => {
  for (const picture of document.querySelectorAll(".help-tooltip[aria-label]:not([role])")) {
    picture.setAttribute("role", "img");
  }
  for (const box of document.querySelectorAll(".tabular td.delete input")) {
    box.setAttribute("aria-label", box.closest("table").querySelector("thead th:last-child").textContent.trim());
  }
});
