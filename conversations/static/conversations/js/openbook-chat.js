/**
 * `<openbook-chat server="https://chat.example.org" assertion="/chat-assertion" assistant="companion">`: a small chat
 * in a page of another site. One file that imports nothing, with words of its own, as the site's page has no others.
 *
 * `assertion` is an address of the site that answers a text: what it signs about its visitor; `getAssertion`, a
 * function of the element that gives that text, takes its place. It is exchanged for a token that is kept in memory
 * alone. The thread, and the reply that is being written, stay known while the tab is open, so that a reload goes on
 * with both.
 */

const WORDS = {
  en: {
    title: "Chat", message: "Message", send: "Send", stop: "Stop", again: "Try again", fresh: "New conversation",
    you: "You", reply: "Answer", writing: "Writing …", stopped: "Stopped.", failed: "That did not work.",
    busy: "Too much was asked for just now. Try again in a moment.", closed: "This chat can’t be shown here.",
  },
  de: {
    title: "Chat", message: "Nachricht", send: "Senden", stop: "Anhalten", again: "Noch einmal",
    fresh: "Neues Gespräch", you: "Sie", reply: "Antwort", writing: "Schreibt …", stopped: "Angehalten.",
    failed: "Das hat nicht geklappt.",
    busy: "Gerade wurde zu viel gefragt. Versuchen Sie es gleich noch einmal.",
    closed: "Dieser Chat kann hier nicht gezeigt werden.",
  },
  fr: {
    title: "Discussion", message: "Message", send: "Envoyer", stop: "Arrêter", again: "Réessayer",
    fresh: "Nouvelle conversation", you: "Vous", reply: "Réponse", writing: "Écrit …", stopped: "Arrêté.",
    failed: "Cela n’a pas fonctionné.", busy: "Trop de demandes pour l’instant. Réessayez dans un moment.",
    closed: "Cette discussion ne peut pas être affichée ici.",
  },
  es: {
    title: "Chat", message: "Mensaje", send: "Enviar", stop: "Detener", again: "Reintentar",
    fresh: "Nueva conversación", you: "Usted", reply: "Respuesta", writing: "Escribiendo …",
    stopped: "Detenido.", failed: "No ha funcionado.",
    busy: "Demasiadas preguntas por ahora. Inténtelo de nuevo en un momento.",
    closed: "Este chat no se puede mostrar aquí.",
  },
  ar: {
    title: "محادثة", message: "رسالة", send: "إرسال", stop: "إيقاف", again: "إعادة المحاولة", fresh: "محادثة جديدة",
    you: "أنت", reply: "الإجابة", writing: "تُكتب الإجابة …", stopped: "أُوقفت.", failed: "لم ينجح ذلك.",
    busy: "الطلبات كثيرة الآن. أعد المحاولة بعد قليل.", closed: "لا يمكن عرض هذه المحادثة هنا.",
  },
};

const STYLE = `
:host {
  display: block; block-size: 32rem; max-block-size: 100dvh; color-scheme: light dark;
  --surface: light-dark(#fff, #1c1b1a); --text: light-dark(#22201d, #ece9e4); --faint: light-dark(#6a655e, #a8a29a);
  --line: light-dark(#d9d4cc, #45413c); --mine: light-dark(#efebe4, #2f2c29);
  --accent: var(--openbook-chat-accent, light-dark(#7a3e1d, #e0a37e)); --on-accent: light-dark(#fff, #1c1b1a);
}
:host([hidden]) { display: none; }
:host([theme="light"]) { color-scheme: light; }
:host([theme="dark"]) { color-scheme: dark; }
*, *::before { box-sizing: border-box; }
section {
  display: grid; grid-template-rows: auto 1fr auto; block-size: 100%; overflow: hidden;
  background: var(--surface); color: var(--text); border: 1px solid var(--line); border-radius: 12px;
  font: 400 1rem/1.5 system-ui, sans-serif; container-type: inline-size;
}
header { display: flex; align-items: center; gap: .5rem; padding: .5rem .5rem .5rem 1rem;
  border-block-end: 1px solid var(--line); }
[dir="rtl"] header { padding: .5rem 1rem .5rem .5rem; }
h2 { flex: 1; margin: 0; font-size: 1rem; font-weight: 600; overflow-wrap: anywhere; }
.log { overflow-y: auto; }
.turns { margin: 0; padding: 1rem; list-style: none; display: flex; flex-direction: column; gap: 1rem; }
.mine { align-self: flex-end; max-inline-size: 85%; padding: .5rem .9rem; border-radius: 14px;
  background: var(--mine); white-space: pre-wrap; }
.turns > li { overflow-wrap: anywhere; }
.said > :first-child { margin-block-start: 0; }
.said > :last-child { margin-block-end: 0; }
pre { padding: .6rem; overflow-x: auto; border-radius: 8px; background: var(--mine); }
code { font: .9em ui-monospace, monospace; }
a { color: var(--accent); }
.note { margin: .25rem 0 0; color: var(--faint); font-size: .9rem; }
form { display: flex; gap: .5rem; align-items: end; padding: .75rem; border-block-start: 1px solid var(--line); }
textarea { flex: 1; min-inline-size: 0; max-block-size: 8rem; padding: .55rem .7rem; resize: none;
  field-sizing: content; font: inherit; color: inherit; background: transparent; border: 1px solid var(--faint);
  border-radius: 10px; }
textarea::placeholder { color: var(--faint); opacity: 1; }
button { min-block-size: 2.75rem; padding: .4rem .9rem; font: inherit; cursor: pointer; color: var(--accent);
  background: transparent; border: 1px solid transparent; border-radius: 10px; }
form button { color: var(--on-accent); background: var(--accent); font-weight: 600; }
.note button { min-block-size: 2rem; padding: .1rem .5rem; text-decoration: underline; }
:is(textarea, button, a, .log):focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.log:focus-visible { outline-offset: -3px; }
.hidden { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap; }
@container (inline-size < 26rem) { .turns { padding: .75rem; } form { padding: .5rem; } }
@media (forced-colors: active) { form button { border-color: ButtonText; } }
`;

const ENDINGS = new Set(["reply.completed", "reply.stopped", "reply.interrupted", "reply.failed"]);
const RETRIES = 5;
const FIRST_PAUSE_MS = 300;
/** A token is not used in its last moments. */
const MARGIN_MS = 30_000;

class Refused extends Error {
  /** @param {number} status @param {Record<string, any>} [error] */
  constructor(status, error = {}) {
    super(error.message ?? "");
    this.status = status;
    this.code = error.code ?? "";
  }

  /** Whether the same call may succeed later. */
  get mayPass() {
    return this.status >= 500 && this.code !== "refused_by_moderation";
  }
}

/** @param {string} name @param {Record<string, any>} [values] @param {...(Node | string)} children @returns {any} */
function element(name, values = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(values)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== false && value != null) made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...children);
  return made;
}

/** The events of a stream. @param {ReadableStream<Uint8Array>} body @returns {AsyncGenerator<Record<string, any>>} */
async function* events(body) {
  const reader = body.pipeThrough(/** @type {any} */ (new TextDecoderStream())).getReader();
  let buffer = "";
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      const whole = (buffer + piece.value).split("\n\n");
      buffer = whole.pop();
      for (const frame of whole) {
        const data = /^data: (.*)$/m.exec(frame);
        if (data) yield JSON.parse(data[1]);
      }
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

// No part runs across the sign that begins it: a text of nothing but such signs takes time in proportion to its length.
const INLINE = /(`[^`\n]+`)|\*\*([^*\n]+)\*\*|\*([^*\n]+)\*|\[([^[\]\n]+)\]\((https?:\/\/[^\s()]+)\)/g;

/** Text with code, weight and links, as nodes: what a model writes is never read as markup. @param {string} text */
function inline(text) {
  const nodes = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    nodes.push(text.slice(end, match.index));
    end = match.index + match[0].length;
    const [, code, strong, emphasis, words, href] = match;
    if (code) nodes.push(element("code", {}, code.slice(1, -1)));
    else if (strong) nodes.push(element("strong", {}, strong));
    else if (emphasis) nodes.push(element("em", {}, emphasis));
    else nodes.push(element("a", { href, target: "_blank", rel: "noopener noreferrer" }, words));
  }
  return [...nodes, text.slice(end)];
}

/** Paragraphs, lists, headings and code of Markdown. @param {string} text @returns {Node[]} */
function blocks(text) {
  return text.split(/^```[^\n]*\n?/m).flatMap((part, at) => {
    if (at % 2) return [element("pre", { dir: "ltr", tabindex: "0" }, element("code", {}, part.replace(/\n$/, "")))];
    return part.split(/\n{2,}/).filter((block) => block.trim()).map(block);
  });
}

/** @param {string} text @returns {Node} */
function block(text) {
  const lines = text.trim().split("\n");
  const items = lines.map((line) => /^\s*(?:[-*]|(\d+)[.)])\s+(.*)$/.exec(line));
  if (items.every(Boolean)) {
    return element(items[0][1] ? "ol" : "ul", {}, ...items.map((item) => element("li", {}, ...inline(item[2]))));
  }
  const heading = /^#{1,6}\s+(.*)$/.exec(lines[0]);
  if (heading && lines.length === 1) return element("p", {}, element("strong", {}, ...inline(heading[1])));
  return element("p", { dir: "auto" }, ...inline(lines.join("\n")));
}

class OpenbookChat extends HTMLElement {
  static observedAttributes = ["lang", "heading"];

  /** @type {(() => Promise<string>) | null} gives what the site signs about its visitor */
  getAssertion = null;

  #token = "";
  #ends = 0;
  /** @type {{ thread?: string, reply?: string }} */
  #place = {};
  #isStopping = false;
  /** Once what was said before is shown. @type {Promise<unknown>} */
  #ready = Promise.resolve();
  #shadow = this.attachShadow({ mode: "open" });
  /** @type {Record<string, any>} */
  #parts = {};

  connectedCallback() {
    if (this.#parts.log) return;
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
    this.#shadow.adoptedStyleSheets = [sheet];
    this.#draw();
    this.#place = this.#stored();
    this.#load();
  }

  attributeChangedCallback() {
    if (this.#parts.log) this.#name();
  }

  get #server() {
    const server = this.getAttribute("server") || new URL(import.meta.url).origin;
    return server.endsWith("/") ? server.slice(0, -1) : server;
  }

  get #words() {
    const asked = this.closest("[lang]")?.getAttribute("lang") || navigator.language;
    return WORDS[asked.slice(0, 2).toLowerCase()] ?? WORDS.en;
  }

  get #key() {
    return `openbook-chat ${this.#server} ${this.getAttribute("assistant") ?? ""}`;
  }

  #draw() {
    const turns = element("ol", { class: "turns" });
    const log = element("div", { class: "log", role: "log", tabindex: "0" }, turns);
    const field = element("textarea", {
      rows: 1, id: "message", dir: "auto", maxlength: 20000, onkeydown: (event) => this.#typed(event),
    });
    const send = element("button", { type: "submit" });
    const form = element("form", { onsubmit: (event) => this.#submitted(event) },
      element("label", { for: "message", class: "hidden" }), field, send);
    const fresh = element("button", { type: "button", onclick: () => this.#begin() });
    const title = element("h2");
    const section = element("section", {}, element("header", {}, title, fresh), log, form);
    this.#parts = { section, title, fresh, log, turns, field, send, label: form.firstChild, running: null };
    this.#name();
    this.#shadow.replaceChildren(section);
  }

  #name() {
    const { section, title, fresh, log, field, label } = this.#parts;
    const words = this.#words;
    section.dir = words === WORDS.ar ? "rtl" : "ltr";
    title.textContent = this.getAttribute("heading") || words.title;
    section.setAttribute("aria-label", title.textContent);
    log.setAttribute("aria-label", title.textContent);
    fresh.textContent = words.fresh;
    label.textContent = field.placeholder = words.message;
    this.#showSending();
  }

  #showSending() {
    const { send, running } = this.#parts;
    send.textContent = running ? this.#words.stop : this.#words.send;
  }

  /** @param {KeyboardEvent} event */
  #typed(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    if (!this.#parts.running) this.#parts.send.form.requestSubmit();
  }

  /** @param {Event} event */
  async #submitted(event) {
    event.preventDefault();
    const { field, running } = this.#parts;
    if (running) {
      this.#stop();
      return;
    }
    const content = field.value.trim();
    if (!content) return;
    field.value = "";
    await this.#ready;
    if (this.#parts.running) {
      field.value = content; // a reply from before is being written
      return;
    }
    this.#show("user", content);
    this.#remember({ ...this.#place, reply: undefined });
    await this.#ask({ content, client_message_id: crypto.randomUUID() });
  }

  /** Another conversation; the one before stays with the server. */
  #begin() {
    this.#parts.running?.abort();
    this.#remember({});
    this.#parts.turns.replaceChildren();
    this.#parts.field.focus();
  }

  /** @param {{ thread?: string, reply?: string }} place */
  #remember(place) {
    this.#place = place;
    try {
      sessionStorage.setItem(this.#key, JSON.stringify(place));
    } catch {
      // a page without storage begins anew after a reload
    }
  }

  #stored() {
    try {
      return JSON.parse(sessionStorage.getItem(this.#key) ?? "{}");
    } catch {
      return {};
    }
  }

  #load() {
    this.#ready = this.#restore().then((reply) => {
      if (reply) void this.#ask(null, reply);
    });
  }

  /** Shows what was said so far. @returns {Promise<string>} the reply that is still to be read; empty: none is */
  async #restore() {
    const { thread, reply = "" } = this.#place;
    if (!thread) return "";
    try {
      const response = await this.#call(`threads/${thread}/messages/?before=end`);
      const { results } = await response.json();
      for (const { role, text } of results) this.#show(role, text);
      return results.at(-1)?.role === "user" ? reply : "";
    } catch (error) {
      if (error instanceof Refused && error.status === 404) this.#remember({}); // another visitor's
      else this.#fail(this.#show("assistant", ""), error, () => this.#load());
      return "";
    }
  }

  /** @param {string} role @param {string} text @returns {any} its item */
  #show(role, text) {
    const isMine = role === "user";
    const who = element("span", { class: "hidden" }, `${isMine ? this.#words.you : this.#words.reply}: `);
    const said = element("div", { class: "said", dir: "auto" }, ...(isMine ? [text] : blocks(text)));
    const item = element("li", { class: isMine ? "mine" : "theirs" }, who, said);
    this.#parts.turns.append(item);
    item.scrollIntoView({ block: "nearest" });
    return item;
  }

  /**
   * A message and the reply to it, or the reply alone, which was begun before.
   * @param {Record<string, any> | null} message
   * @param {string} [reply]
   */
  async #ask(message, reply = "") {
    const running = new AbortController();
    this.#parts.running = running;
    this.#isStopping = false;
    this.#showSending();
    const item = this.#show("assistant", "");
    const note = element("p", { class: "note" }, this.#words.writing);
    item.setAttribute("aria-busy", "true");
    item.append(note);
    try {
      const { type, error } = await this.#follow(item, message, reply, running.signal);
      note.remove();
      if (error) this.#fail(item, new Refused(502, error), null);
      else if (type !== "reply.completed") item.append(element("p", { class: "note" }, this.#words.stopped));
    } catch (error) {
      note.remove();
      if (!running.signal.aborted) this.#fail(item, error, () => this.#ask(message, this.#place.reply));
    } finally {
      item.removeAttribute("aria-busy");
      if (this.#parts.running === running) this.#parts.running = null;
      this.#showSending();
    }
  }

  /** Shows the reply as it comes, across cuts. @returns {Promise<{ type: string, error?: any }>} how it ended */
  async #follow(item, message, reply, signal) {
    let [seq, text, failures] = [0, "", 0];
    for (;;) {
      try {
        const response = reply
          ? await this.#call(`replies/${reply}/events/?after=${seq}`, null, signal)
          : await this.#call(`threads/${this.#place.thread ?? "new"}/messages/stream/`, this.#body(message), signal);
        for await (const event of events(response.body)) {
          const { type, data } = event;
          if (!type) throw new Refused(401, event.error);
          if (event.seq <= seq && !data.whole) continue;
          [seq, reply, failures] = [event.seq, event.reply, 0];
          if (data.thread && this.#place.reply !== reply) this.#remember({ thread: data.thread, reply });
          if (this.#isStopping) this.#stop();
          if (type === "reply.delta") text = data.whole ? data.text : text + data.text;
          if (type === "reply.delta") this.#write(item, text);
          if (ENDINGS.has(type)) return { type, error: data.error };
        }
        throw new TypeError("The stream broke off.");
      } catch (error) {
        failures += 1;
        const isOver = error instanceof Refused && error.status !== 401 && !error.mayPass;
        if (isOver || failures > RETRIES || signal.aborted) throw error;
        await new Promise((resolve) => setTimeout(resolve, FIRST_PAUSE_MS * 2 ** (failures - 1)));
      }
    }
  }

  /** @param {Record<string, any>} message */
  #body(message) {
    const assistant = this.getAttribute("assistant");
    return assistant && !this.#place.thread ? { ...message, assistant } : message;
  }

  #write(item, text) {
    const { log } = this.#parts;
    const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
    item.querySelector(".said").replaceChildren(...blocks(text));
    if (isAtEnd) log.scrollTop = log.scrollHeight;
  }

  #stop() {
    this.#isStopping = true;
    const { reply } = this.#place;
    if (!reply) return; // once it has begun
    this.#isStopping = false;
    this.#call(`replies/${reply}/stop/`, {}).catch(() => undefined);
  }

  /** @param {any} item @param {unknown} error @param {(() => unknown) | null} again */
  #fail(item, error, again) {
    const code = error instanceof Refused ? error.code : "";
    const words = this.#words;
    const text = code === "embedding_refused" ? words.closed
      : ["rate_limited", "budget_exceeded"].includes(code) ? words.busy : words.failed;
    const note = element("p", { class: "note", role: "alert" }, `${text} `);
    if (again) {
      note.append(element("button", { type: "button", onclick: () => (item.remove(), again()) }, words.again));
    }
    item.append(note);
  }

  /** @param {string} path @param {Record<string, any> | null} [body] @param {AbortSignal} [signal] */
  async #call(path, body = null, signal = undefined) {
    if (Date.now() > this.#ends - MARGIN_MS) await this.#exchange();
    const response = await this.#fetched(path, body, { Authorization: `Token ${this.#token}` }, signal);
    if (response.status !== 401) return checked(response);
    await this.#exchange(); // it was taken back
    return checked(await this.#fetched(path, body, { Authorization: `Token ${this.#token}` }, signal));
  }

  async #exchange() {
    const assertion = await (this.getAssertion ?? (() => this.#fetchAssertion()))();
    const answer = await (await checked(await this.#fetched("embed/token/", { assertion }, {}))).json();
    this.#token = answer.token;
    this.#ends = Date.parse(answer.expires_at);
  }

  async #fetchAssertion() {
    const response = await fetch(this.getAttribute("assertion") ?? "", { cache: "no-store" });
    if (!response.ok) throw new Refused(response.status);
    return (await response.text()).trim();
  }

  #fetched(path, body, headers, signal = undefined) {
    const sent = body && { body: JSON.stringify(body), headers: { ...headers, "Content-Type": "application/json" } };
    return fetch(`${this.#server}/api/v1/${path}`, {
      method: body ? "POST" : "GET", credentials: "omit", cache: "no-store", signal, headers, ...sent,
    });
  }
}

/** @param {Response} response */
async function checked(response) {
  if (response.ok) return response;
  const told = await response.json().catch(() => null);
  throw new Refused(response.status, told?.error);
}

customElements.define("openbook-chat", OpenbookChat);
