// Copies what a URL serves. The clipboard exists on https and localhost only; elsewhere the download does the same.
async function copy(button, status) {
  if (!navigator.clipboard) {
    status.textContent = "This browser copies on https only. Use the download.";
    return;
  }
  try {
    const response = await fetch(button.dataset.copyFrom);
    if (!response.ok || response.redirected) throw new Error(`the server answered ${response.status}`);
    await navigator.clipboard.writeText(await response.text());
    status.textContent = "Copied.";
  } catch (error) {
    status.textContent = `Not copied: ${error.message}. Use the download.`;
  }
}

for (const button of document.querySelectorAll("[data-copy-from]")) {
  const status = button.parentElement.querySelector("[role=status]");
  button.addEventListener("click", () => copy(button, status));
}
