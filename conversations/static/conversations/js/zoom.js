/** A picture that can be looked at closely: by buttons, keys, wheel, pinch and drag. */

import { h } from "./dom.js";
import { gettext } from "./language.js";

const STEP = 1.5;
const MOST = 8;
const PAN = 60; // pixels for an arrow key

export class ZoomedPicture {
  #scale = 1;
  #x = 0;
  #y = 0;
  /** @type {Map<number, {x: number, y: number}>} where fingers are */
  #fingers = new Map();

  /** @param {string} src @param {string} name @param {(scale: number) => void} onScale */
  constructor(src, name, onScale) {
    this.onScale = onScale;
    this.picture = h("img", { src, alt: name, draggable: "false" });
    this.element = h(
      "div",
      {
        class: "zoomed",
        tabindex: 0,
        role: "group",
        "aria-label": gettext("Picture. Plus and minus zoom, 0 fits, arrows move."),
      },
      this.picture,
    );
    this.element.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    this.element.addEventListener("pointerdown", (event) => this.#down(event));
    this.element.addEventListener("pointermove", (event) => this.#move(event));
    this.element.addEventListener("pointerup", (event) => this.#fingers.delete(event.pointerId));
    this.element.addEventListener("pointercancel", (event) => this.#fingers.delete(event.pointerId));
    this.element.addEventListener("dblclick", (event) => {
      if (this.#scale > 1) this.fit();
      else this.#zoom(2, this.#from(event));
    });
  }

  get scale() {
    return this.#scale;
  }

  in() {
    this.#zoom(STEP);
  }

  out() {
    this.#zoom(1 / STEP);
  }

  fit() {
    this.#scale = 1;
    this.#x = this.#y = 0;
    this.#show();
  }

  /** @returns {boolean} whether the key means something here */
  key(name) {
    const moves = { ArrowLeft: [PAN, 0], ArrowRight: [-PAN, 0], ArrowUp: [0, PAN], ArrowDown: [0, -PAN] }[name];
    if (!moves) return false;
    this.#x += moves[0];
    this.#y += moves[1];
    this.#show();
    return true;
  }

  /** @param {number} factor @param {{x: number, y: number}} [at] what stays in its place, from the middle */
  #zoom(factor, at = { x: 0, y: 0 }) {
    const scale = Math.max(1, Math.min(MOST, this.#scale * factor));
    const grown = scale / this.#scale;
    this.#x = at.x - (at.x - this.#x) * grown;
    this.#y = at.y - (at.y - this.#y) * grown;
    this.#scale = scale;
    this.#show();
  }

  #show() {
    const { clientWidth, clientHeight } = this.element;
    const { offsetWidth, offsetHeight } = this.picture;
    this.#x = within(this.#x, (offsetWidth * this.#scale - clientWidth) / 2);
    this.#y = within(this.#y, (offsetHeight * this.#scale - clientHeight) / 2);
    this.picture.style.transform = `translate(${this.#x}px, ${this.#y}px) scale(${this.#scale})`;
    this.element.classList.toggle("larger", this.#scale > 1);
    this.onScale(this.#scale);
  }

  #wheel(event) {
    event.preventDefault();
    this.#zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.002)), this.#from(event));
  }

  #down(event) {
    this.element.setPointerCapture(event.pointerId);
    this.#fingers.set(event.pointerId, this.#from(event));
  }

  #move(event) {
    const before = this.#fingers.get(event.pointerId);
    if (!before) return;
    const now = this.#from(event);
    this.#fingers.set(event.pointerId, now);
    const other = [...this.#fingers].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const middle = { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 };
      this.#zoom(distance(now, other) / (distance(before, other) || 1), middle);
    } else {
      this.#x += now.x - before.x;
      this.#y += now.y - before.y;
      this.#show();
    }
  }

  /** From the middle of the frame. */
  #from({ clientX, clientY }) {
    const box = this.element.getBoundingClientRect();
    return { x: clientX - box.left - box.width / 2, y: clientY - box.top - box.height / 2 };
  }
}

function within(value, most) {
  const bound = Math.max(0, most);
  return Math.max(-bound, Math.min(bound, value));
}

function distance(one, other) {
  return Math.hypot(one.x - other.x, one.y - other.y);
}
