/**
 * Lines that staff show above pages: what was dismissed in this browser stays away until it is changed, and an open
 * page asks
 * for new ones now and then.
 */

import { api } from "./api.js";
import { byId, elements } from "./dom.js";
import { storeOf } from "./storage.js";

const OFTEN = 300_000; // milliseconds
const KEPT = 50; // dismissals

const region = byId("banners");
const store = storeOf(region.dataset.reader);
let asked = Date.now();

const nameOf = (line) => `${line.dataset.id}:${line.dataset.version}`;
const dismissed = () => store.read("banners", []);

/** @param {HTMLElement} line */
function show(line) {
  line.hidden = dismissed().includes(nameOf(line));
  line.querySelector("button")?.addEventListener("click", () => dismiss(line));
}

/** @param {HTMLElement} line */
function dismiss(line) {
  store.write("banners", [...dismissed(), nameOf(line)].slice(-KEPT));
  line.hidden = true;
  const next = region.querySelector(".banner:not([hidden]) button") ?? document.querySelector("main h1");
  if (!(next instanceof HTMLElement)) return;
  if (next.tagName === "H1") next.tabIndex = -1;
  next.focus();
}

/** @param {Row} banner as the API has it */
function made(banner) {
  const template = region.querySelector(`template[data-level="${banner.level}"]`);
  const line = template.content.firstElementChild.cloneNode(true);
  line.dataset.id = banner.id;
  line.dataset.version = banner.version;
  line.querySelector(".banner-text").textContent = banner.text;
  if (!banner.is_dismissable) line.querySelector("button").remove();
  return line;
}

/** Only what is new is put in, so that nothing is read out twice. */
async function ask() {
  asked = Date.now();
  const { results } = await api.get("banners/");
  const before = new Map(elements(region, ".banner").map((line) => [nameOf(line), line]));
  for (const banner of results) {
    const name = `${banner.id}:${banner.version}`;
    const line = before.get(name) ?? made(banner);
    if (!before.delete(name)) {
      region.append(line);
      show(line);
    }
  }
  before.forEach((line) => line.remove());
}

function askIfOld() {
  if (!document.hidden && Date.now() - asked >= OFTEN) ask().catch(console.info);
}

elements(region, ".banner").forEach(show);
setInterval(askIfOld, OFTEN / 5);
document.addEventListener("visibilitychange", askIfOld);
