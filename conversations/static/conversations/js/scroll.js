/** Keeps the reader's place: follows the end only for those who were there, and never jumps when older turns arrive. */

const NEAR = 64;
const ABOVE = 48; // pixels of what stands before a turn that is led to

export class Scroll {
  following = true;

  /** @param {HTMLElement} scroller @param {HTMLButtonElement} pill */
  constructor(scroller, pill) {
    this.scroller = scroller;
    this.pill = pill;
    scroller.addEventListener("scroll", () => this.#look(), { passive: true });
    pill.addEventListener("click", () => this.toEnd({ smooth: true }));
    // Pictures of code, the composer growing, a phone's keyboard: all change the heights without a scroll.
    const watcher = new ResizeObserver(() => (this.following ? this.toEnd() : this.#look()));
    watcher.observe(scroller);
    watcher.observe(scroller.firstElementChild);
  }

  toEnd({ smooth = false } = {}) {
    this.following = true;
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.scroller.scrollTo({ top: this.scroller.scrollHeight, behavior: smooth && !calm ? "smooth" : "instant" });
    this.pill.hidden = true;
  }

  grown() {
    if (this.following) this.toEnd();
    else this.#look();
  }

  /** Leads the eye and the focus to a turn, away from the end: to its beginning where it is higher than the window. */
  point(element) {
    this.following = false;
    this.scroller.querySelector(".pointed")?.classList.remove("pointed");
    element.classList.add("pointed");
    element.tabIndex = -1;
    const { top, height } = element.getBoundingClientRect();
    const view = this.scroller.getBoundingClientRect();
    // Unlike scrollIntoView() this moves nothing but the scroller.
    this.scroller.scrollTop += top - view.top - Math.max(ABOVE, (view.height - height) / 2);
    element.focus({ preventScroll: true });
  }

  /** Brings a place within a turn into view, where that is higher than the window. @param {Range} range */
  reveal(range) {
    const { top, bottom } = range.getBoundingClientRect();
    const view = this.scroller.getBoundingClientRect();
    if (top < view.top || bottom > view.bottom) this.scroller.scrollTop += top - view.top - view.height / 2;
  }

  /** Runs a change above this element and keeps it where it was. (scrollHeight is rounded; a rectangle is not.) */
  keepPlace(element, change) {
    const before = element?.getBoundingClientRect().top ?? 0;
    change();
    this.scroller.scrollTop += (element?.getBoundingClientRect().top ?? 0) - before;
  }

  #look() {
    const { scrollHeight, scrollTop, clientHeight } = this.scroller;
    const distance = scrollHeight - scrollTop - clientHeight;
    this.following = distance < NEAR;
    this.pill.hidden = distance < clientHeight / 3 || distance < NEAR;
  }
}
