// The gateway over HTTP. The token, where one is needed, lives in this tab only and never goes into a URL.

const TOKEN_KEY = "toolwire.token";
const TIMEOUT = 10_000;

export class Unauthorized extends Error {}
export class Unreachable extends Error {}

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

/** The first events of a session after a number; none if there is no such session. */
export async function events(session, after, limit) {
  const path = `/api/sessions/${encodeURIComponent(session)}/events?after=${after}&limit=${limit}`;
  return (await ask(path, { absent: { events: [] } })).events;
}

async function ask(path, { method = "GET", absent = null } = {}) {
  const headers = token.get() ? { Authorization: `Bearer ${token.get()}` } : {};
  let response;
  try {
    response = await fetch(path, { method, headers, cache: "no-store", signal: AbortSignal.timeout(TIMEOUT) });
  } catch (error) {
    throw new Unreachable(`the gateway does not answer (${error.message})`);
  }
  if (response.status === 401) throw new Unauthorized("a valid token is required");
  if (response.status === 404 && absent) return absent;
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(body.message ?? `${path} answered ${response.status}`);
  return body;
}
