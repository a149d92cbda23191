/** Passkeys: what a form with `data-passkey` asks of the browser before it is sent. "create" makes one, "get" uses one
 * for the options that the page holds; "sign-in" gets those from where the form is sent. */

import { byId } from "./dom.js";
import { gettext } from "./language.js";

const problem = byId("passkey-problem");
const isPossible = Boolean(globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON);

for (const form of document.forms) {
  const button = /** @type {HTMLButtonElement | null} */ (form.querySelector("button[hidden]"));
  if (!form.dataset.passkey || !button) continue;
  button.hidden = !isPossible;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    ask(form, button);
  });
}
if (!isPossible && document.querySelector('form[data-passkey]:not([data-passkey="sign-in"])')) {
  tell(gettext("This browser can’t use passkeys here. Use another browser, or a page that is reached by https."));
}

/**
 * @param {HTMLFormElement} form
 * @param {HTMLButtonElement} button
 */
async function ask(form, button) {
  problem.hidden = true;
  button.disabled = true;
  try {
    const credential = await credentialFor(form);
    /** @type {HTMLInputElement} */ (form.elements.namedItem("credential")).value = JSON.stringify(credential);
    form.submit(); // not by an event: it would ask again
  } catch (error) {
    button.disabled = false;
    tell(wordsFor(error));
  }
}

/** @param {HTMLFormElement} form */
async function credentialFor(form) {
  const kind = form.dataset.passkey;
  const options = (kind === "sign-in" ? await optionsFrom(form.action) : optionsOfPage()).publicKey;
  if (kind !== "create") {
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
    return navigator.credentials.get({ publicKey });
  }
  const alone = /** @type {HTMLInputElement} */ (form.elements.namedItem("passwordless")).checked;
  options.authenticatorSelection = {
    ...options.authenticatorSelection,
    residentKey: alone ? "required" : "discouraged",
    requireResidentKey: alone,
    ...(alone && { userVerification: "required" }),
  };
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  return navigator.credentials.create({ publicKey });
}

function optionsOfPage() {
  const options = JSON.parse(byId("passkey-options").textContent);
  return options.creation_options ?? options.request_options;
}

/** @param {string} address */
async function optionsFrom(address) {
  const response = await fetch(address, { headers: { Accept: "application/json" } });
  if (!response.ok) throw new Error(String(response.status));
  return (await response.json()).request_options;
}

/** @param {Error} error */
function wordsFor(error) {
  if (error.name === "InvalidStateError") return gettext("This device keeps a passkey for this account already.");
  if (error.name === "NotAllowedError") {
    return gettext("The browser asked for no passkey, or you stopped it. Try again.");
  }
  if (error.name === "SecurityError") {
    return gettext("The browser uses no passkey at this address. Use the server’s name.");
  }
  return gettext("The passkey could not be used. Try again.");
}

/** @param {string} words */
function tell(words) {
  problem.textContent = words;
  problem.hidden = false;
}
