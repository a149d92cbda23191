/** What of the page is not so any more once turns are forgotten, cleared, or left for another branch. */

import { api } from "./api.js";
import { byId } from "./dom.js";

export class Renewal {
  /**
   * @param {{
   *   log: import("./log.js").Log,
   *   book: import("./book.js").Book,
   *   scroll: import("./scroll.js").Scroll,
   *   composer: import("./composer.js").Composer,
   *   workbench: import("../../artifacts/js/workbench.js").Workbench,
   *   gauge: import("./window-gauge.js").WindowGauge,
   * }} page
   * @param {{
   *   reader: () => import("./thread.js").OpenThread,
   *   onChanged: (thread: Thread) => void,
   *   onError: (error: Error) => void,
   * }} on
   */
  constructor(page, on) {
    this.page = page;
    this.on = on;
  }

  /** Its title may have changed. @param {string} id */
  look(id) {
    api.get(`threads/${id}/`).then(this.on.onChanged, this.on.onError);
  }

  /** Whether it is said that nothing was said. @param {string} id of the open thread */
  showEmpty(id) {
    byId("empty-thread").hidden = id === "new" || !this.page.log.saysNothing;
  }

  /** What rests on a turn that was forgotten goes, too; the title may have told it. */
  forgotten({ id: thread }, turns, artifacts) {
    const { log, book, workbench } = this.page;
    for (const id of turns) log.forget(id);
    book.forget();
    if (artifacts) workbench.load();
    this.look(thread);
  }

  /** By this page, perhaps from the list. @param {Thread} thread */
  clearedHere({ id }) {
    const open = this.on.reader();
    if (id !== open.thread.id) {
      this.look(id);
      return;
    }
    open.cleared();
    this.page.composer.focus();
  }

  /** Here or elsewhere: what was shown of the open thread is gone. */
  cleared() {
    const { log, book } = this.page;
    const { id } = this.on.reader().thread;
    book.forget();
    if (!log.newestRequest) book.gauge(null);
    log.markWindow(null);
    this.showEmpty(id);
    this.look(id);
  }

  /** Another branch of the conversation is shown. @param {HTMLElement | null} element its turn that was asked for */
  moved(element) {
    const { log, book, scroll, gauge } = this.page;
    book.forget();
    this.showEmpty(this.on.reader().thread.id);
    gauge.read(log.newestRequest);
    if (!element) {
      scroll.toEnd();
      return;
    }
    scroll.point(element);
    const steps = /** @type {HTMLButtonElement[]} */ ([...element.querySelectorAll(".version-step")]);
    steps.find((step) => !step.disabled)?.focus({ preventScroll: true });
  }
}
