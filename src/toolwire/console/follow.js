// Keeps what is new in view without taking the text from under the reader's eyes.
//
// After a question the page scrolls as its answer grows, until the question has reached the top: who reads from there
// is not moved any further. Who goes to the end is kept at the end; who scrolls anywhere else is left alone.

const NEAR = 60;
const ABOVE = 12;

export class Follow {
  /** `start`: the last turn from its question on; `end`: the newest text; `free`: wherever the reader is. */
  mode = "start";
  #set = 0;

  constructor(scroller, transcript, button) {
    this.scroller = scroller;
    this.transcript = transcript;
    this.button = button;
    scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    button.addEventListener("click", () => this.to("end"));
    new ResizeObserver(() => this.settle()).observe(scroller);
  }

  to(mode) {
    this.mode = mode;
    this.settle();
  }

  /** Content has grown. */
  settle() {
    const target = { start: () => Math.min(this.#end(), this.#start()), end: () => this.#end() }[this.mode];
    if (target) {
      this.scroller.scrollTop = target();
      this.#set = this.scroller.scrollTop;
    }
    this.#show();
  }

  #scrolled() {
    const moved = Math.abs(this.scroller.scrollTop - this.#set) > 1;
    if (moved) this.mode = this.#distance() <= NEAR ? "end" : "free";
    this.#show();
  }

  #show() {
    this.button.hidden = this.#distance() <= NEAR;
  }

  #end() {
    return this.scroller.scrollHeight - this.scroller.clientHeight;
  }

  #distance() {
    return this.#end() - this.scroller.scrollTop;
  }

  #start() {
    const turn = this.transcript.lastElementChild;
    if (!turn) return 0;
    const below = turn.getBoundingClientRect().top - this.scroller.getBoundingClientRect().top;
    return below + this.scroller.scrollTop + ABOVE;
  }
}
