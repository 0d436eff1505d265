// Values of documents: reading them as text, and an editor with a type for each.
import { h, replace, select } from "./dom.js";

export const types = [
  "string", "integer", "double", "boolean", "map", "array", "timestamp", "null", "bytes", "reference",
  "geopoint",
];

const member = {
  string: "stringValue", integer: "integerValue", double: "doubleValue", boolean: "booleanValue",
  map: "mapValue", array: "arrayValue", timestamp: "timestampValue", null: "nullValue",
  bytes: "bytesValue", reference: "referenceValue", geopoint: "geoPointValue",
};

export function typeOf(value) {
  return types.find((type) => Object.hasOwn(value, member[type])) ?? "null";
}

/** A value in one line. */
export function fieldText(value, most = 120) {
  const type = typeOf(value);
  const content = value[member[type]];
  switch (type) {
  case "string": return JSON.stringify(content).slice(0, most);
  case "null": return "null";
  case "map": {
    const fields = Object.entries(content.fields ?? {});
    return `{${fields.slice(0, 4).map(([name, inner]) => `${name}: ${fieldText(inner, 30)}`).join(", ")}${fields.length > 4 ? ", …" : ""}}`;
  }
  case "array": {
    const values = content.values ?? [];
    return `[${values.slice(0, 4).map((inner) => fieldText(inner, 30)).join(", ")}${values.length > 4 ? ", …" : ""}]`;
  }
  case "geopoint": return `${content.latitude ?? 0}°, ${content.longitude ?? 0}°`;
  default: return String(content).slice(0, most);
  }
}

/** The content of a value as the text of its input. */
function textOf(value) {
  const type = typeOf(value);
  const content = value[member[type]];
  if (type === "geopoint") return `${content.latitude ?? 0}, ${content.longitude ?? 0}`;
  return type === "null" || type === "map" || type === "array" ? "" : String(content);
}

/** A value of a type from a text. */
export function valueFrom(type, text) {
  const trimmed = text.trim();
  switch (type) {
  case "string": return { stringValue: text };
  case "null": return { nullValue: null };
  case "boolean": return { booleanValue: trimmed === "true" };
  case "integer":
    if (!/^-?\d{1,19}$/.test(trimmed)) throw new Error(`“${trimmed}” is no whole number.`);
    return { integerValue: String(BigInt(trimmed)) };
  case "double":
    if (/^(NaN|-?Infinity)$/.test(trimmed)) return { doubleValue: trimmed };
    if (!trimmed || Number.isNaN(Number(trimmed))) throw new Error(`“${trimmed}” is no number.`);
    return { doubleValue: Number(trimmed) };
  case "timestamp": {
    const isWhole = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/.test(trimmed);
    const time = new Date(trimmed);
    if (!isWhole && Number.isNaN(time.getTime())) throw new Error(`“${trimmed}” is no time.`);
    return { timestampValue: isWhole ? trimmed : time.toISOString() };
  }
  case "bytes":
    if (!/^[A-Za-z0-9+/]*={0,2}$/.test(trimmed)) throw new Error("Bytes are given in base64.");
    return { bytesValue: trimmed };
  case "reference": return { referenceValue: trimmed };
  case "geopoint": {
    const [latitude, longitude, rest] = trimmed.split(",").map(Number);
    if (rest !== undefined || !Number.isFinite(latitude) || !Number.isFinite(longitude)) {
      throw new Error("A point is a latitude and a longitude: 52.5, 13.4");
    }
    return { geoPointValue: { latitude, longitude } };
  }
  default: return { stringValue: text };
  }
}

const placeholders = {
  timestamp: "2026-01-31T12:00:00Z", bytes: "base64", geopoint: "52.5, 13.4",
  reference: "projects/…/documents/cities/SF", integer: "0", double: "0.5",
};

/** An editor of a map's fields, or of an array's values, with editors inside. */
export class FieldsEditor {
  constructor(isArray, label) {
    this.isArray = isArray;
    this.label = label;
    this.entries = [];
    this.list = h("div", { class: "fields", role: "group", "aria-label": label });
    this.element = h("div", {}, this.list,
      h("button", { type: "button", class: "small", onclick: () => this.add().focus() },
        isArray ? "Add a value" : "Add a field"));
  }

  set(content) {
    this.entries = [];
    this.list.replaceChildren();
    if (this.isArray) for (const value of content.values ?? []) this.add("", value);
    else for (const [name, value] of Object.entries(content.fields ?? {})) this.add(name, value);
    return this;
  }

  add(name = "", value = { stringValue: "" }) {
    const entry = new FieldEntry(this, name, value);
    this.entries.push(entry);
    this.list.append(entry.element);
    return entry;
  }

  remove(entry) {
    this.entries = this.entries.filter((other) => other !== entry);
    entry.element.remove();
  }

  /** The content, as a map's or an array's. */
  read() {
    if (this.isArray) return { values: this.entries.map((entry) => entry.read()) };
    const fields = {};
    for (const entry of this.entries) {
      const name = entry.name.value;
      if (!name) throw new Error("A field has no name.");
      if (Object.hasOwn(fields, name)) throw new Error(`The field ${name} comes twice.`);
      Object.defineProperty(fields, name, { value: entry.read(), enumerable: true });
    }
    return { fields };
  }
}

class FieldEntry {
  constructor(editor, name, value) {
    this.name = h("input", {
      value: name, "aria-label": "Field", placeholder: "field", class: "name", spellcheck: "false",
      hidden: editor.isArray, autocomplete: "off",
    });
    this.type = select(types, typeOf(value), { "aria-label": `Type of ${name || "the value"}` });
    this.type.addEventListener("change", () => this.show({ [member[this.type.value]]: this.initial() }));
    this.content = h("div", { class: "grow" });
    this.element = h("div", { class: "entry" }, this.name, this.type, this.content,
      h("button", {
        type: "button", class: "plain", "aria-label": `Remove ${name || "the value"}`,
        onclick: () => editor.remove(this),
      }, "×"));
    this.label = name || "the value";
    this.show(value);
  }

  initial() {
    const text = this.input?.value ?? "";
    switch (this.type.value) {
    case "map": case "array": case "geopoint": return {};
    case "timestamp": return new Date().toISOString();
    case "boolean": return text === "true";
    default: return text;
    }
  }

  focus() { (this.name.hidden ? this.type : this.name).focus(); }

  show(value) {
    const type = this.type.value;
    this.input = this.inner = undefined;
    this.element.classList.toggle("nested", type === "map" || type === "array");
    const label = `Value of ${this.label}`;
    if (type === "map" || type === "array") {
      this.inner = new FieldsEditor(type === "array", label).set(value[member[type]] ?? {});
      return replace(this.content, this.inner.element);
    }
    if (type === "null") return replace(this.content, h("span", { class: "hint" }, "null"));
    if (type === "boolean") {
      this.input = select(["true", "false"], String(Boolean(value.booleanValue)), { "aria-label": label });
    } else {
      const text = textOf(value);
      const isLong = type === "string" && (text.length > 60 || text.includes("\n"));
      this.input = h(isLong ? "textarea" : "input", {
        value: text, "aria-label": label, placeholder: placeholders[type], spellcheck: "false",
        autocomplete: "off",
      });
    }
    return replace(this.content, this.input);
  }

  read() {
    const type = this.type.value;
    if (this.inner) return { [member[type]]: this.inner.read() };
    return valueFrom(type, this.input?.value ?? "");
  }
}
