// How each kind of client connects: ready-to-copy addresses and commands for the three dialects.

import { copyButton, el } from "./dom.js";

const message = (value) => JSON.stringify(value);

/** The dialects, as `(gateway, project)` give them. `gateway` is ws://host:port or wss://host:port. */
const DIALECTS = [
  {
    name: "gateway",
    title: "Streamed chat and tool calls",
    document: "document 5",
    about: "An IDE connects under a session id of its choice; it gets text and tool calls, and answers the calls.",
    path: (project) => `/ws/my-session?projectKey=${project}`,
    first: () => message({ type: "user_message", content: "Where does it start?", role: "user" }),
  },
  {
    name: "analyze",
    title: "Analysis requests",
    document: "document 2",
    about: "An IDE plugin asks; stages, tool calls and one final message come back under a requestId.",
    path: (project) => `/ws/analyze?sessionId=my-session&projectKey=${project}&projectPath=/path/to/it`,
    first: () => message({ type: "ANALYZE", data: { message: "Where does it start?" } }),
  },
  {
    name: "agent_chat",
    title: "Agent chat",
    document: "document 1, version 2",
    about: "A chat with modes ask, plan and agent; the plugin runs the tools it is asked for.",
    path: (project) => `/ws/agent/chat?sessionId=my-session&projectKey=${project}`,
    first: () => message({ type: "AGENT_CHAT", data: { message: "Where does it start?" } }),
  },
];

/** The cards of all dialects. */
export function clients(about) {
  const base = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}`;
  const project = encodeURIComponent(about.default_project || "my-project");
  return DIALECTS.map((dialect) => card(dialect, base, project, about.token_required));
}

function card(dialect, base, project, guarded) {
  const url = base + dialect.path(project);
  const header = guarded ? ` -H "Authorization: Bearer $TOKEN"` : "";
  const token = guarded ? " --token-file token.txt" : "";
  const shared = `--url ${base} --dialect ${dialect.name}${token}`;
  return el(
    "section",
    { class: "client" },
    el("h3", {}, dialect.title, el("span", { class: "tag" }, dialect.document)),
    el("p", {}, dialect.about),
    el(
      "dl",
      {},
      ...line("Your plugin opens", url),
      ...line("By hand", `npx wscat -c "${url}"${header}`),
      ...line("and then sends", dialect.first()),
      ...line("A headless IDE", `toolwire ide . ${shared} --session my-session`),
      ...line("A chat that uses it", `toolwire chat ${shared} --session my-session --tools client`),
    ),
  );
}

function line(label, text) {
  return [
    el("dt", {}, label),
    el("dd", {}, el("code", { dir: "ltr", tabindex: "0" }, text), copyButton(text)),
  ];
}
