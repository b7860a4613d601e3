// Keeps the newest text in view while the reader is at the end, and leaves them alone while they are not.

const NEAR = 60;

export class Follow {
  following = true;
  #last = 0;

  constructor(scroller, button) {
    this.scroller = scroller;
    this.button = button;
    scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    button.addEventListener("click", () => this.toEnd());
    new ResizeObserver(() => this.settle()).observe(scroller);
  }

  /** Content has grown. */
  settle() {
    if (this.following) this.scroller.scrollTop = this.scroller.scrollHeight;
    this.#last = this.scroller.scrollTop;
    this.#show();
  }

  toEnd() {
    this.following = true;
    this.settle();
  }

  #scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    // Only moving up is leaving: content that grows under us also puts distance between us and the end.
    if (scrollHeight - scrollTop - clientHeight <= NEAR) this.following = true;
    else if (scrollTop < this.#last) this.following = false;
    this.#last = scrollTop;
    this.#show();
  }

  #show() {
    this.button.hidden = this.following;
  }
}
