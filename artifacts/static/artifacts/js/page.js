/**
 * A generated page or picture in its frame: without scripts, unless the person chooses to run those of a page, this
 * once.
 */

import { csrfToken } from "../../conversations/js/api.js";
import { confirmed } from "../../conversations/js/dialogs.js";
import { byId, h } from "../../conversations/js/dom.js";
import { gettext } from "../../conversations/js/language.js";

const SCRIPTED = /<script[\s/>]|<[^<>]*[\s"'/]on\w+\s*=|javascript:/i;

/** @param {{id: string, title: string, kind: string, number: number, content: string}} version */
export function renderPage(version) {
  const root = h("div", { class: "artifact-page" });
  if (version.kind === "html" && SCRIPTED.test(version.content)) showStill(root, version);
  else root.append(still(version));
  return root;
}

function showStill(root, version, { focus = false } = {}) {
  const choice =
    mayRun() &&
    h(
      "button",
      { type: "button", class: "button small", onclick: () => ask(root, version) },
      gettext("Run its scripts …"),
    );
  root.replaceChildren(
    bar(
      mayRun() ? gettext("Shown without scripts.") : gettext("Shown without its scripts, which are not run here."),
      choice,
    ),
    still(version),
  );
  if (focus) choice.focus();
}

/** An old browser does not hold what it is asked to hold. */
function mayRun() {
  return "runScripts" in byId("panel").dataset && "trustedTypes" in window;
}

async function ask(root, version) {
  const yes = await confirmed({
    title: gettext("Run the scripts of “{title}” this once?", { title: version.title }),
    text: [
      gettext("The model wrote them, or took them from what it read."),
      gettext("They run shut in: they can’t see this conversation, your other pages or your account."),
      gettext("But no browser shuts them in completely."),
      gettext("Through WebRTC, or by opening an address, they may reach other computers."),
      gettext("Those then see your network address and whatever this page holds."),
    ].join(" "),
    yes: gettext("Run its scripts"),
  });
  if (yes && root.isConnected) run(root, version);
}

function run(root, version) {
  const name = `run-${crypto.getRandomValues(new Uint32Array(1))[0]}`;
  const frame = h("iframe", {
    class: "artifact-frame",
    title: version.title,
    name,
    sandbox: "allow-scripts",
    referrerpolicy: "no-referrer",
  });
  const stop = h(
    "button",
    { type: "button", class: "button small", onclick: () => showStill(root, version, { focus: true }) },
    gettext("Stop them"),
  );
  root.replaceChildren(bar(gettext("Its scripts are running."), stop), frame);
  const form = h(
    "form",
    { method: "post", action: address(version), target: name, hidden: true },
    h("input", { type: "hidden", name: "csrfmiddlewaretoken", value: csrfToken() }),
  );
  root.append(form);
  form.submit();
  form.remove();
  stop.focus();
}

function still(version) {
  return h("iframe", {
    class: "artifact-frame",
    title: version.title,
    sandbox: "",
    referrerpolicy: "no-referrer",
    src: address(version),
  });
}

function address({ id, number }) {
  return `/artifacts/${id}/versions/${number}/frame/`;
}

function bar(words, button) {
  return h("div", { class: "artifact-bar" }, h("p", { role: "status" }, words), button);
}
