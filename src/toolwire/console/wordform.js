// A person's word: yes, yes with other arguments, or no with a reason. One of the three forms is open at a time; Esc
// leads back from the other two.

import { el } from "./dom.js";
import { faultIn } from "./jsonfault.js";

const LONGEST_REASON = 2000;
let forms = 0;

export class WordForm {
  /** Whether an answer is on its way. */
  sending = false;
  #number = (forms += 1);

  /** `send(word)` resolves once there is an answer; a fault it gives back is shown at the field it is about. */
  constructor(tool, args, send) {
    this.tool = tool;
    this.args = args;
    this.send = send;
    this.node = el("div", { class: "word" });
    this.node.addEventListener("keydown", (event) => this.#key(event));
    this.#choose();
  }

  /** Whether somebody is writing arguments or a reason. */
  get open() {
    return this.node.querySelector("form") !== null;
  }

  /** Something about the arguments is wrong, as the gateway sees it. */
  fault(text) {
    if (this.editor) this.#showFault(text);
  }

  #choose(focus = "") {
    this.editor = null;
    const button = (name, label, kind, act) =>
      el("button", { type: "button", class: kind, data: { word: name }, onclick: act }, label);
    this.node.replaceChildren(
      button("approve", "Approve", "primary", () => this.#give({ decision: "approve" })),
      button("edit", "Edit arguments…", "outline", () => this.#edit()),
      button("reject", "Reject…", "outline", () => this.#reject()),
    );
    if (focus) this.node.querySelector(`[data-word="${focus}"]`).focus();
  }

  #edit() {
    const [id, faultId] = [`arguments-${this.#number}`, `fault-${this.#number}`];
    const text = JSON.stringify(this.args, null, 2);
    const rows = Math.min(18, text.split("\n").length + 1);
    this.editor = el("textarea", { id, rows, spellcheck: "false", dir: "ltr", "aria-describedby": faultId });
    this.editor.value = text;
    this.problem = el("p", { id: faultId, class: "fault", role: "status" });
    this.editor.addEventListener("input", () => this.#showFault(faultIn(this.editor.value)));
    this.#open("edit", "Approve with these arguments", "primary", () => this.#giveEdited(), [
      el("label", { for: id }, `Arguments of ${this.tool}, as JSON`),
      this.editor,
      this.problem,
    ]);
    this.editor.focus();
    this.editor.setSelectionRange(0, 0);
  }

  #giveEdited() {
    const fault = faultIn(this.editor.value);
    this.#showFault(fault);
    if (fault) this.editor.focus();
    else this.#give({ decision: "approve", arguments: JSON.parse(this.editor.value) });
  }

  #showFault(text) {
    this.problem.textContent = text;
    this.editor.setAttribute("aria-invalid", String(Boolean(text)));
  }

  #reject() {
    const id = `reason-${this.#number}`;
    const reason = el("input", { id, maxlength: LONGEST_REASON, dir: "auto", autocomplete: "off" });
    const give = () => this.#give({ decision: "reject", reason: reason.value.trim() });
    this.#open("reject", "Reject", "danger", give, [
      el("label", { for: id }, "Why not? The agent is told. It may be left empty."),
      reason,
    ]);
    reason.focus();
  }

  #open(kind, label, look, give, fields) {
    const form = el(
      "form",
      { class: "word-form", data: { kind } },
      ...fields,
      el(
        "div",
        { class: "word-buttons" },
        el("button", { type: "submit", class: look }, label),
        el("button", { type: "button", class: "outline", onclick: () => this.#choose(kind) }, "Back"),
      ),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      give();
    });
    this.node.replaceChildren(form);
    form.scrollIntoView({ block: "nearest" });
  }

  #key(event) {
    if (event.isComposing) return;
    const form = this.node.querySelector("form");
    if (event.key === "Escape" && form) {
      event.stopPropagation(); // leaves the form, not the turn
      this.#choose(form.dataset.kind);
    } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && form) {
      event.preventDefault();
      form.requestSubmit();
    }
  }

  /** Once: until there is an answer, nothing here can be pressed. */
  async #give(word) {
    if (this.sending) return;
    this.sending = true;
    const buttons = [...this.node.querySelectorAll("button")];
    const focused = document.activeElement;
    for (const button of buttons) button.disabled = true;
    await this.send(word);
    this.sending = false;
    for (const button of buttons) button.disabled = false;
    if (this.node.isConnected && document.activeElement === document.body) focused?.focus?.();
  }
}
