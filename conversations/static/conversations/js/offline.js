/**
 * The page without a server: what was typed is there, and what is typed is kept for the chat. It imports nothing, as
 * only what the worker keeps can be loaded. Its texts stand in the page.
 */

const READER = "openbook:reader";
const OFTEN = 10_000; // milliseconds
const PAUSE = 3000; // in typing: nobody is led away in the middle of a word

/** Keys of what this browser keeps for who was here last. */
const prefix = `openbook:${read(READER) ?? "nobody"}:`;
const here = `${prefix}draft:${/^\/threads\/([0-9a-f-]{36})\//.exec(location.pathname)?.[1] ?? "new"}`;
let typedAt = 0;
const box = /** @type {HTMLTextAreaElement} */ (document.getElementById("draft"));

if (read(READER) !== null) {
  box.value = read(here) ?? "";
  document.getElementById("writing").hidden = false;
  box.addEventListener("input", keep);
  showOthers();
}
document.getElementById("again").addEventListener("click", () => location.reload());
addEventListener("online", lookAgain);
setInterval(lookAgain, OFTEN);

function keep() {
  typedAt = Date.now();
  write(here, box.value);
}

async function lookAgain() {
  if (Date.now() - typedAt < PAUSE) return;
  const answer = await fetch("/health/live/", { cache: "no-store" }).catch(() => null);
  if (answer?.ok) location.reload();
}

function showOthers() {
  const drafts = stored()
    .filter((key) => key.startsWith(`${prefix}draft:`) && key !== here && read(key))
    .map((key) => [key.slice(`${prefix}draft:`.length), read(key)]);
  const list = document.getElementById("others");
  for (const [thread, text] of drafts) {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = thread === "new" ? "/" : `/threads/${thread}/`;
    link.textContent = text;
    link.dir = "auto";
    item.append(link);
    list.append(item);
  }
  list.parentElement.hidden = !drafts.length;
  const waiting = stored()
    .filter((key) => key.startsWith(`${prefix}outbox:`))
    .flatMap((key) => read(key) ?? []);
  document.getElementById("waiting").hidden = !waiting.length;
}

function stored() {
  try {
    return Object.keys(localStorage);
  } catch {
    return []; // private windows refuse
  }
}

/** @returns {any} `null` where nothing is kept */
function read(key) {
  try {
    return JSON.parse(localStorage.getItem(key));
  } catch {
    return null;
  }
}

function write(key, value) {
  try {
    if (value) localStorage.setItem(key, JSON.stringify(value));
    else localStorage.removeItem(key);
  } catch (error) {
    console.info("This browser keeps no drafts.", error);
  }
}
