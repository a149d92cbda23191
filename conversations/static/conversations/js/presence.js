/** Whether somebody is there: what people do keeps a sign-in, and what an open page asks for by itself does not. */

/** What a page asks for so long after somebody touched it, it asks for by itself. */
const IDLE = 60_000;
const ACTS = ["pointerdown", "keydown", "wheel", "touchmove"];
let touched = Date.now();

// Tests of the modules that ask the server import this without a window.
for (const act of ACTS)
  globalThis.addEventListener?.(act, () => (touched = Date.now()), { capture: true, passive: true });

export function isIdle() {
  return Date.now() - touched > IDLE;
}

/**
 * Say now and then that somebody is there, also while they only read or write.
 * @param {number} minutes after which the sign-in ends where nobody is
 * @param {() => void} say
 */
export function keepPresent(minutes, say) {
  const often = Math.min(60_000, minutes * 15_000);
  setInterval(() => Date.now() - touched < often && say(), often);
}
