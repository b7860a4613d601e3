// Where questions are written. Enter sends, Shift+Enter makes a new line, and an input method's Enter is left to it.

const TALLEST = 220;

export class Composer {
  /** `send` gets the text. */
  constructor(form, send) {
    this.box = form.querySelector("textarea");
    this.send = send;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.box.addEventListener("input", () => this.#fit());
    this.box.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
      event.preventDefault();
      this.#submit();
    });
  }

  focus() {
    // On a phone the keyboard would cover half of what there is to read.
    if (matchMedia("(pointer: fine)").matches) this.box.focus({ preventScroll: true });
  }

  #submit() {
    const text = this.box.value.trim();
    if (!text) return;
    this.send(text);
    this.box.value = "";
    this.#fit();
    this.box.focus({ preventScroll: true });
  }

  #fit() {
    this.box.style.height = "auto";
    this.box.style.height = `${Math.min(TALLEST, this.box.scrollHeight)}px`;
  }
}
