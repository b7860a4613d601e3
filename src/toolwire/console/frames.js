// Work batched per animation frame, so that a flood of messages costs a few repaints, not thousands.

const BUDGET = 8;
const HIDDEN_PACE = 200;

/** Hands queued items to `handle` within a time budget per frame, then calls `flush` once. */
export class FrameQueue {
  #items = [];
  #at = 0;
  #booked = false;

  constructor(handle, flush) {
    this.handle = handle;
    this.flush = flush;
  }

  push(item) {
    this.#items.push(item);
    this.wake();
  }

  clear() {
    this.#items = [];
    this.#at = 0;
  }

  wake() {
    if (this.#booked) return;
    this.#booked = true;
    // A hidden page gets no frames; it must still keep up, or a long answer arrives all at once.
    if (document.hidden) setTimeout(() => this.#run(), HIDDEN_PACE);
    else requestAnimationFrame(() => this.#run());
  }

  #run() {
    this.#booked = false;
    const end = performance.now() + BUDGET;
    while (this.#at < this.#items.length && performance.now() < end) this.handle(this.#items[this.#at++]);
    if (this.#at < this.#items.length) this.wake();
    else this.clear();
    this.flush();
  }
}
