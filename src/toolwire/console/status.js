// What is running, and how the connection to it is.

import { byId, el } from "./dom.js";
import { count } from "./words.js";

/** The facts about the gateway, wherever the page shows them. */
export function drawAbout(about) {
  const facts = [
    ["Version", about.version],
    ["Agent", about.agent],
    [about.projects.length === 1 ? "Project" : "Projects", about.projects.join(", ") || "none"],
    ["Sessions", `${about.sessions} live`],
    ["Connections", `${about.connections} open`],
  ];
  for (const list of document.querySelectorAll("dl.facts")) {
    list.replaceChildren(...facts.flatMap(([name, value]) => [el("dt", {}, name), el("dd", { dir: "auto" }, value)]));
  }
}

const LABELS = {
  closed: "Ready",
  connecting: "Connecting…",
  open: "Connected",
  waiting: "Reconnecting…",
  refused: "Refused",
};

/** The state of the connection: a word in the header, and a bar with what to do when it is down. */
export class ConnectionStatus {
  #until = 0;
  #ticker = 0;

  constructor(retry) {
    this.word = byId("connection");
    this.bar = byId("reconnect");
    this.text = byId("reconnect-text");
    byId("reconnect-now").addEventListener("click", retry);
  }

  show(state, wait = 0) {
    clearInterval(this.#ticker);
    const down = state === "waiting" || (state === "connecting" && !this.bar.hidden);
    this.word.dataset.state = down ? "waiting" : state;
    this.word.textContent = down ? LABELS.waiting : LABELS[state];
    this.bar.hidden = !down;
    if (!down) return;
    this.#until = performance.now() + wait;
    this.#tick();
    if (wait) this.#ticker = setInterval(() => this.#tick(), 500);
  }

  #tick() {
    const seconds = Math.ceil((this.#until - performance.now()) / 1000);
    const when = seconds > 0 ? ` Next attempt in ${count(seconds, "second")}.` : "";
    this.text.textContent = `The connection broke. Reconnecting…${when} Nothing is lost: it goes on where it was.`;
  }
}
