/** The quiet bar that says when the server is away, and what happens with what is typed meanwhile. */

import { h } from "./dom.js";
import { gettext } from "./language.js";

/** A short loss is repaired before anybody needs to read about it. */
const PATIENCE = 1200;

const FINAL = {
  signed_out: gettext("You have been signed out. What you typed is kept here."),
  notice: gettext("There is a notice to accept before you go on. What you typed is kept here."),
  forbidden: gettext("You no longer have access to this conversation. What you typed is kept here."),
  gone: gettext("This conversation no longer exists. What you typed is kept here."),
};

export class ConnectionBar {
  #timer = 0;

  /**
   * @param {HTMLElement} element
   * @param {{onReconnect: () => void, onLeave: () => void}} on `onLeave`: this conversation is none any more
   */
  constructor(element, on) {
    this.element = element;
    this.on = on;
  }

  /** @param {string} state of the socket */
  show(state) {
    if (state === "open") {
      clearTimeout(this.#timer);
      this.#timer = 0;
      this.element.hidden = true;
    } else if (FINAL[state]) {
      clearTimeout(this.#timer);
      this.#say(
        FINAL[state],
        WAYS_ON[state]?.() ?? button(gettext("Open a new conversation"), this.on.onLeave),
      );
    } else if (!this.#timer) {
      this.#timer = setTimeout(() => this.#sayAway(), PATIENCE);
    }
  }

  #sayAway() {
    const words = navigator.onLine
      ? gettext("The server can't be reached. Keep writing: what you send is kept here and goes out when it is back.")
      : gettext("You are offline. Keep writing: what you send is kept here and goes out when you are back.");
    this.#say(words, button(gettext("Try now"), this.on.onReconnect));
  }

  #say(words, action) {
    this.element.replaceChildren(h("span", {}, words), action);
    this.element.hidden = false;
  }
}

function button(words, onclick) {
  return h("button", { type: "button", class: "button small", onclick }, words);
}

/** To somewhere that leads back here. */
function link(path, words) {
  const href = `${path}?next=${encodeURIComponent(location.pathname)}`;
  return h("a", { class: "button small", href }, words);
}

const WAYS_ON = {
  signed_out: () => link("/accounts/login/", gettext("Sign in again")),
  notice: () => link("/notice/", gettext("Read it")),
};
