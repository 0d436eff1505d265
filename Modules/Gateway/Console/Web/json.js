// JSON that keeps whole numbers of 64 bits: those beyond 2^53 are BigInts here.

const whole = /^-?\d+$/;

export function parse(text) {
  return JSON.parse(text, (key, value, context) => {
    const isLarge = typeof value === "number" && !Number.isSafeInteger(value);
    return isLarge && whole.test(context?.source ?? "") ? BigInt(context.source) : value;
  });
}

/** Writes a value; `indent` is a number of spaces a level. */
export function encode(value, indent = 0, level = 0) {
  if (typeof value === "bigint") return String(value);
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null";
  const isList = Array.isArray(value);
  const parts = isList
    ? value.map((item) => encode(item, indent, level + 1))
    : Object.keys(value).map((key) =>
      `${JSON.stringify(key)}:${indent ? " " : ""}${encode(value[key], indent, level + 1)}`);
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  if (!parts.length || !indent) return open + parts.join(indent ? ", " : ",") + close;
  const space = "\n" + " ".repeat(indent * (level + 1));
  return open + space + parts.join("," + space) + "\n" + " ".repeat(indent * level) + close;
}

export function isBranch(value) {
  return value !== null && typeof value === "object";
}

/** A value in at most `most` characters, for a line of a list. */
export function preview(value, most = 200) {
  if (!isBranch(value)) return encode(value).slice(0, most);
  const keys = Object.keys(value);
  const parts = [];
  let length = 2;
  for (const key of keys) {
    const inner = value[key];
    const text = `${key}: ${isBranch(inner) ? (Array.isArray(inner) ? "[…]" : "{…}") : encode(inner).slice(0, 60)}`;
    length += text.length + 2;
    if (length > most) {
      parts.push(`… ${keys.length - parts.length} more`);
      break;
    }
    parts.push(text);
  }
  return `{${parts.join(", ")}}`;
}

const integerKey = /^(0|-?[1-9]\d{0,9})$/;

function asIndex(key) {
  if (!integerKey.test(key)) return undefined;
  const number = Number(key);
  return number >= -2147483648 && number <= 2147483647 ? number : undefined;
}

/** The order of keys: whole numbers of 32 bits first, then texts by their code points. */
export function compareKeys(left, right) {
  const [a, b] = [asIndex(left), asIndex(right)];
  if (a !== undefined && b !== undefined) return a - b;
  if (a !== undefined || b !== undefined) return a !== undefined ? -1 : 1;
  return compareTexts(left, right);
}

export function compareTexts(left, right) {
  const [a, b] = [[...left], [...right]];
  for (let index = 0; index < Math.min(a.length, b.length); index += 1) {
    const difference = a[index].codePointAt(0) - b[index].codePointAt(0);
    if (difference) return difference;
  }
  return a.length - b.length;
}

function rank(value) {
  if (value === null || value === undefined) return 0;
  if (typeof value === "boolean") return value ? 2 : 1;
  if (typeof value === "number" || typeof value === "bigint") return 3;
  return typeof value === "string" ? 4 : 5;
}

/** The order of values in a query of the tree. */
export function compareValues(left, right) {
  const difference = rank(left) - rank(right);
  if (difference || rank(left) < 3 || rank(left) === 5) return difference;
  if (rank(left) === 3) return left < right ? -1 : left > right ? 1 : 0;
  return compareTexts(left, right);
}
