// Watches a reply: what the server tells becomes text, never markup.
import { gettext, locale, ngettext } from "../js/language.js";

const log = document.getElementById("live");
const state = document.getElementById("live-state");
const times = new Intl.DateTimeFormat(locale, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 1,
  hourCycle: "h23",
});
let said = null;
let thinking = null;
let masked = 0;

function line(kind, words, url = "") {
  const paragraph = document.createElement("p");
  paragraph.className = kind;
  paragraph.append(url ? link(words, url) : words);
  return log.appendChild(paragraph);
}

function link(words, url) {
  const anchor = document.createElement("a");
  anchor.href = url;
  anchor.textContent = words;
  return anchor;
}

function follow(change) {
  const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
  change();
  if (atEnd) log.scrollTop = log.scrollHeight;
}

function write(text, characters) {
  said ??= line(text ? "ob-text" : "ob-masked", "");
  if (text) said.append(text);
  else {
    masked += characters;
    said.textContent = ngettext("masked, {count} character so far", "masked, {count} characters so far", masked);
  }
}

function timed(at, words) {
  return `${times.format(new Date(at))} ${words}`;
}

// One line that counts on, and what the model shows of it.
function think({ words, text, characters, at }) {
  if (!thinking) begin();
  thinking ??= line("ob-live-event", "");
  thinking.textContent = timed(at, words);
  if (characters) write(text, characters);
}

function begin() {
  said = thinking = null;
  masked = 0;
}

function tell({ type, words, text, characters, at, url }) {
  if (type === "reply.thinking") return think({ words, text, characters, at });
  if (thinking) begin();
  if (characters) {
    write(text, characters);
  } else if (words) {
    begin();
    line("ob-live-event", timed(at, words), url);
  }
  return undefined;
}

const source = new EventSource(log.dataset.events);
source.addEventListener("open", () => {
  state.textContent = log.dataset.events.includes("?")
    ? gettext("Connected.")
    : gettext("Connected. Waiting for the next reply…");
});
source.addEventListener("told", (event) => {
  state.textContent = gettext("Connected.");
  follow(() => tell(JSON.parse(event.data)));
});
source.addEventListener("over", (event) => {
  source.close();
  const { words } = JSON.parse(event.data);
  state.textContent = words || gettext("It has ended. Reload the page to wait for the next one.");
});
source.addEventListener("error", () => {
  state.textContent =
    source.readyState === EventSource.CLOSED
      ? gettext("Not connected. Reload the page.")
      : gettext("The connection was lost. Trying again…");
});
