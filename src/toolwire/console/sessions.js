// The list of earlier sessions.

import { el } from "./dom.js";
import { ago, count } from "./words.js";

/** Draw the sessions somebody has spoken in; keeps the focus where it was. */
export function drawSessions(list, sessions, current) {
  const focused = list.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  const spoken = sessions.filter((session) => session.turns > 0);
  list.replaceChildren(...spoken.map((session) => line(session, session.name === current)));
  if (focused) list.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
  return spoken.length;
}

export function addressOf(session) {
  return `#/s/${encodeURIComponent(session)}`;
}

function line(session, current) {
  const prompt = session.last_prompt.trim() || session.name;
  const facts = [ago(session.updated), count(session.turns, "question")];
  return el(
    "li",
    {},
    el(
      "a",
      { href: addressOf(session.name), "aria-current": current ? "page" : null, title: session.name },
      el("span", { class: "session-prompt", dir: "auto" }, prompt),
      el("span", { class: "session-facts" }, facts.join(" · "), session.open ? el("b", {}, " · running") : null),
    ),
  );
}
