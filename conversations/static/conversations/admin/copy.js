import { gettext } from "../js/language.js";

// Copies what a URL serves. The clipboard exists on https and localhost only; elsewhere the download does the same.
async function copy(button, status) {
  if (!navigator.clipboard) {
    status.textContent = gettext("This browser copies on https only. Use the download.");
    return;
  }
  try {
    const response = await fetch(button.dataset.copyFrom);
    const { ok, redirected, status: code } = response;
    if (!ok || redirected) throw new Error(gettext("the server answered {status}", { status: String(code) }));
    await navigator.clipboard.writeText(await response.text());
    status.textContent = gettext("Copied.");
  } catch (error) {
    status.textContent = gettext("Not copied: {problem}. Use the download.", { problem: error.message });
  }
}

for (const button of document.querySelectorAll("[data-copy-from]")) {
  const status = button.parentElement.querySelector("[role=status]");
  button.addEventListener("click", () => copy(button, status));
}
