// Building nodes. Text only ever becomes text nodes: nothing here, or anywhere in the console, parses HTML.

/** An element with properties and children; strings become text nodes, null and false are left out. */
export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  // Children first: an element with dir="auto" looks at all of its text again for every child it gets.
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") node.className = value;
    else if (name === "data") Object.assign(node.dataset, value);
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  return node;
}

/** The element with that id; a missing one is a defect of the page. */
export function byId(id) {
  const node = document.getElementById(id);
  if (!node) throw new Error(`the page has no #${id}`);
  return node;
}

/** A button that copies a text and says so. */
export function copyButton(text, label = "Copy") {
  const button = el("button", { type: "button", class: "copy", "aria-label": `${label} to the clipboard` }, label);
  button.addEventListener("click", async () => {
    const done = await copy(typeof text === "function" ? text() : text);
    button.textContent = done ? "Copied" : "Press Ctrl+C";
    setTimeout(() => (button.textContent = label), 1600);
  });
  return button;
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text); // no clipboard API on plain http from another machine
  }
}

function copyBySelection(text) {
  const area = el("textarea", { class: "unseen", readonly: true, "aria-hidden": "true" });
  area.value = text;
  const before = document.activeElement;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  before?.focus?.();
  return done;
}
