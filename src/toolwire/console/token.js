// Asks for the token, and again if the gateway does not know it.

import { byId } from "./dom.js";
import * as gateway from "./gateway.js";

/** Resolves with what is running, once the gateway accepts a token. */
export function askForToken() {
  const dialog = byId("token-dialog");
  const form = byId("token-form");
  const field = byId("token-field");
  const problem = byId("token-problem");
  const wrong = gateway.token.get() !== "";
  gateway.token.forget();
  show(problem, wrong ? "That token is not known here. Try again." : "");
  field.value = "";
  if (!dialog.open) dialog.showModal();
  field.focus();
  return new Promise((resolve) => {
    form.onsubmit = async (event) => {
      event.preventDefault();
      const about = await attempt(field.value.trim(), problem);
      if (!about) {
        field.select();
        return;
      }
      dialog.close();
      resolve(about);
    };
    dialog.oncancel = (event) => event.preventDefault(); // without a token there is nothing behind the dialog
  });
}

async function attempt(value, problem) {
  if (!gateway.sendable(value)) {
    const why = "A browser can only send tokens of letters, digits and -._~ in a WebSocket.";
    show(problem, value ? why : "Enter a token.");
    return null;
  }
  gateway.token.set(value);
  try {
    return await gateway.about();
  } catch (error) {
    gateway.token.forget();
    show(problem, error instanceof gateway.Unauthorized ? "That token is not known here. Try again." : error.message);
    return null;
  }
}

function show(problem, text) {
  problem.textContent = text;
  problem.hidden = !text;
}
