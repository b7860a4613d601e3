// The gateway over HTTP. The token, where one is needed, lives in this tab only and never goes into a URL.

const TOKEN_KEY = "toolwire.token";
const TIMEOUT = 10_000;

export class Unauthorized extends Error {}
export class Unreachable extends Error {}

/** The gateway has understood, and said no: `code` is its name for that, `fields` what is wrong with which field. */
export class Refused extends Error {
  constructor(body, fallback) {
    super(body.message ?? fallback);
    this.code = body.code ?? "";
    this.fields = body.fields ?? {};
  }
}

let ahead = 0;

/** The gateway's time in milliseconds, by the last answer it gave: clocks differ, and an approval ends by its clock. */
export const now = () => Date.now() + ahead;

export const token = {
  get: () => sessionStorage.getItem(TOKEN_KEY) ?? "",
  set: (value) => sessionStorage.setItem(TOKEN_KEY, value),
  forget: () => sessionStorage.removeItem(TOKEN_KEY),
};

/** Whether a browser can send this token in a WebSocket handshake (RFC 6455, 4.1: the characters of a token). */
export function sendable(value) {
  return /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(value);
}

export const about = () => ask("/api/about");

export const sessions = async () => (await ask("/api/sessions?limit=100")).sessions;

export const stop = (session) => ask(`/api/sessions/${encodeURIComponent(session)}/stop`, { method: "POST" });

/** What waits for a person's word in any session, the oldest first. */
export const approvals = async () => (await ask("/api/approvals?limit=200", { absent: { approvals: [] } })).approvals;

export const approval = (id) => ask(`/api/approvals/${encodeURIComponent(id)}`);

/** Give a person's word; resolves with the request as it is then, throws `Refused`. */
export const answer = (id, word) =>
  ask(`/api/approvals/${encodeURIComponent(id)}`, { method: "POST", body: JSON.stringify(word) });

/** The first events of a session after a number; none if there is no such session. */
export async function events(session, after, limit) {
  const path = `/api/sessions/${encodeURIComponent(session)}/events?after=${after}&limit=${limit}`;
  return (await ask(path, { absent: { events: [] } })).events;
}

async function ask(path, { method = "GET", body, absent = null } = {}) {
  const headers = token.get() ? { Authorization: `Bearer ${token.get()}` } : {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response;
  try {
    const signal = AbortSignal.timeout(TIMEOUT);
    response = await fetch(path, { method, headers, body, cache: "no-store", signal });
  } catch (error) {
    throw new Unreachable(`the gateway does not answer (${error.message})`);
  }
  setClock(response.headers.get("date"));
  if (response.status === 401) throw new Unauthorized("a valid token is required");
  if (response.status === 404 && absent) return absent;
  const told = await response.json().catch(() => ({}));
  if (!response.ok) throw new Refused(told, `${path} answered ${response.status}`);
  return told;
}

/** The header has whole seconds, so less than two of them are no difference. */
function setClock(date) {
  const difference = Date.parse(date ?? "") - Date.now();
  if (Number.isNaN(difference)) return;
  ahead = Math.abs(difference) < 2000 ? 0 : difference;
}
