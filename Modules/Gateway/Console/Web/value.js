// An editor of one value of the tree: a type and a text.
import { field, h, select } from "./dom.js";
import { encode, isBranch, parse } from "./json.js";

export function readValue(text) {
  try {
    return parse(text);
  } catch (error) {
    throw new Error(`This is no JSON: ${error.message}`);
  }
}

function type(value) {
  if (value === null || isBranch(value)) return "JSON";
  return { bigint: "number" }[typeof value] ?? typeof value;
}

const numeric = /^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/;

export function valueEditor(value) {
  const kind = select(["string", "number", "boolean", "JSON"], type(value), { "aria-label": "Type" });
  const holder = h("span", { class: "grow" });
  let input;
  const show = (text) => {
    const wasFocused = document.activeElement === input;
    input = kind.value === "boolean"
      ? select(["true", "false"], text === "false" ? "false" : "true", { "aria-label": "Value" })
      : h("input", {
        value: text, "aria-label": "Value", spellcheck: "false", autocomplete: "off",
        inputmode: kind.value === "number" ? "decimal" : undefined,
      });
    holder.replaceChildren(input);
    if (wasFocused) input.focus();
  };
  kind.addEventListener("change", () => show(input.value));
  show(typeof value === "string" ? value : encode(value));
  return {
    element: h("span", { class: "row grow" }, kind, holder),
    focus: () => {
      input.focus();
      input.select?.();
    },
    read() {
      switch (kind.value) {
      case "string": return input.value;
      case "boolean": return input.value === "true";
      case "number": {
        const text = input.value.trim();
        if (!numeric.test(text)) throw new Error(`“${text}” is no number.`);
        return parse(text);
      }
      default: return readValue(input.value);
      }
    },
  };
}

/** A field whose text is JSON; empty for `undefined`. */
export function literalField(label, attributes, hint) {
  const input = h("input", { spellcheck: "false", autocomplete: "off", ...attributes });
  return {
    input,
    element: field(label, input, hint),
    read: () => {
      const text = input.value.trim();
      if (!text) return undefined;
      try {
        return parse(text);
      } catch {
        return text;
      }
    },
  };
}
