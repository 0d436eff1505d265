// Small helpers around the document. Text from the server is only ever set as text, never as markup.

/** Creates an element; `on…` members are listeners, others attributes, children are nodes or text. */
export function h(name, attributes, ...children) {
  const element = document.createElement(name);
  assign(element, attributes ?? {});
  append(element, children);
  return element;
}

/** Creates an element of SVG. */
export function svg(name, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  assign(element, attributes ?? {});
  append(element, children);
  return element;
}

const properties = new Set(["value", "checked", "disabled", "hidden", "selected", "readOnly"]);

function assign(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false && !properties.has(name)) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (properties.has(name)) element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

export function replace(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

/** Tells screen readers. */
export function announce(text) {
  document.getElementById("announcements").textContent = text;
}

/** Shows a notice for a while. */
export function notice(text, isError = false) {
  const close = h("button", { class: "plain", "aria-label": "Dismiss", onclick: () => box.remove() }, "×");
  const box = h("div", { class: isError ? "notice error" : "notice", role: isError ? "alert" : "status" },
    h("span", {}, text), close);
  document.getElementById("notices").append(box);
  setTimeout(() => box.remove(), isError ? 12_000 : 5_000);
}

/** Runs an action of the user; its failure is shown. */
export async function attempt(action) {
  try {
    return await action();
  } catch (error) {
    notice(error.message, true);
    return undefined;
  }
}

let nextID = 0;

/** Returns an id that is not in use. */
export function freshID() {
  nextID += 1;
  return `c${nextID}`;
}

/** A control with its label above it. */
export function field(label, control, hint) {
  control.id ||= freshID();
  const explanation = hint && h("span", { class: "hint", id: `${control.id}-hint` }, hint);
  if (explanation) control.setAttribute("aria-describedby", explanation.id);
  return h("div", { class: "field" }, h("label", { for: control.id }, label), control, explanation);
}

export function select(options, value, attributes) {
  const control = h("select", attributes,
    options.map((option) => {
      const [code, text] = Array.isArray(option) ? option : [option, option];
      return h("option", { value: code }, text);
    }));
  if (value !== undefined) control.value = value;
  return control;
}

/** Asks in a modal dialog; the promise holds the answer of `read`, or `undefined` when cancelled. */
export function ask(title, content, { action = "OK", danger = false, read = () => true } = {}) {
  return new Promise((resolve) => {
    const heading = h("h2", { id: freshID() }, title);
    const form = h("form", { method: "dialog" }, heading, content,
      h("div", { class: "row end" },
        h("button", { type: "button", onclick: () => dialog.close() }, "Cancel"),
        h("button", { type: "submit", class: danger ? "danger" : "primary" }, action)));
    const dialog = h("dialog", { "aria-labelledby": heading.id }, form);
    let answer;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      try {
        answer = read();
        dialog.close();
      } catch (error) {
        notice(error.message, true);
      }
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(answer);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Lets the browser save a text or bytes as a file. */
export function save(content, name) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content]));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Lets the user choose a file. */
export function chooseFile(accept) {
  return new Promise((resolve) => {
    const input = h("input", { type: "file", accept, class: "hidden-text", "aria-label": "File" });
    input.addEventListener("change", () => {
      input.remove();
      resolve(input.files[0]);
    });
    input.addEventListener("cancel", () => {
      input.remove();
      resolve(undefined);
    });
    document.body.append(input);
    input.click();
  });
}
