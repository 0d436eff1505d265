// The requests of the console: those of any client, with the token of an administrator.
import { encode, parse } from "./json.js";

const storageName = "tern.token";
const developmentToken = "owner";

/** An answer that is no success. */
export class RequestError extends Error {
  constructor(status, text, denial) {
    super(denial ? `${text} [${denial}]` : text);
    this.status = status;
  }
}

export const session = {
  token: sessionStorage.getItem(storageName) ?? "",
  isDevelopment: false,
  /** The database of trees. */
  database: sessionStorage.getItem("tern.database") ?? "default",
  /** The project of documents, and the database in it. */
  project: sessionStorage.getItem("tern.project") ?? "demo",
  documentDatabase: sessionStorage.getItem("tern.documents") ?? "(default)",

  choose(name, value) {
    this[name] = value;
    sessionStorage.setItem({ documentDatabase: "tern.documents" }[name] ?? `tern.${name}`, value);
  },

  get credential() { return this.token || developmentToken; },

  /** Finds out who the console speaks for; false when a token is needed. */
  async open(token) {
    if (token !== undefined) this.token = token.trim();
    try {
      const names = await databases();
      this.isDevelopment = !this.token;
      if (this.token) sessionStorage.setItem(storageName, this.token);
      return names;
    } catch (error) {
      if (error.status === 401 || error.status === 403 || error.status === 404) {
        this.close();
        if (token) throw error;
        return undefined;
      }
      throw error;
    }
  },

  close() {
    this.token = "";
    this.isDevelopment = false;
    sessionStorage.removeItem(storageName);
  },
};

/** Sends a request and returns the response, whatever its status. */
export async function send(method, target, { body, headers = {}, signal } = {}) {
  try {
    return await fetch(target, {
      method, body, signal, cache: "no-store", credentials: "omit", redirect: "error",
      headers: { Authorization: `Bearer ${session.credential}`, ...headers },
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new RequestError(0, "The server cannot be reached.");
  }
}

async function check(response) {
  if (response.ok) return response;
  const text = await response.text();
  let reason = text.slice(0, 500);
  try {
    const json = JSON.parse(text);
    const error = (Array.isArray(json) ? json[0] : json).error;
    reason = typeof error === "string" ? error : error.message;
  } catch { /* The text is the reason. */ }
  throw new RequestError(
    response.status, reason || `Status ${response.status}`, response.headers.get("x-tern-denial"));
}

export async function request(method, target, options) {
  return check(await send(method, target, options));
}

export async function json(method, target, body, options = {}) {
  const text = body === undefined ? undefined : encode(body);
  const response = await request(method, target, { ...options, body: text ?? options.body });
  return parse(await response.text());
}

export async function databases() {
  return (await json("GET", "/.inspect/databases.json")).map((entry) => entry.name);
}

// MARK: The tree

/** The target of a path: a list of keys. */
export function treeTarget(path, parameters = {}) {
  const query = new URLSearchParams({ ns: session.database, ...parameters });
  return `/${path.map(encodeURIComponent).join("/")}.json?${query}`;
}

/** The content of a path with its priorities, and the tag that `replaceContent` takes. */
export async function content(path) {
  const response = await request("GET", treeTarget(path, { format: "export" }),
    { headers: { "X-Firebase-ETag": "true" } });
  return { value: parse(await response.text()), tag: response.headers.get("etag") };
}

/** Replaces what `content` has read; an error when another client has changed it since. */
export async function replaceContent(path, value, tag) {
  try {
    await json("PUT", treeTarget(path), value, { headers: tag ? { "if-match": tag } : {} });
  } catch (error) {
    if (error.status !== 412) throw error;
    throw new RequestError(412,
      `Another client has changed /${path.join("/")} meanwhile. Nothing was saved; edit it again.`);
  }
}

/** The names of children behind `after`, or the value of a leaf. */
export function shallow(path, { after, limit, signal } = {}) {
  const parameters = { shallow: "true" };
  if (after !== undefined) parameters.startAfter = JSON.stringify(after);
  if (limit) parameters.limitToFirst = limit;
  return json("GET", treeTarget(path, parameters), undefined, { signal });
}

/** The reason a key may not be used; `undefined` for a good one. */
export function keyObjection(key) {
  if (!key) return "The key is empty.";
  if (/[.$#[\]/\u0000-\u001f\u007f]/.test(key)) return "A key holds no . $ # [ ] / and no control characters.";
  return new TextEncoder().encode(key).length > 768 ? "A key has at most 768 bytes." : undefined;
}

// MARK: Documents

export function documentsRoot() {
  return `projects/${session.project}/databases/${session.documentDatabase}/documents`;
}

/** The target of a resource name, whose parts may hold anything but a slash. */
export function documentTarget(name, verb = "") {
  return `/v1/${name.split("/").map(encodeURIComponent).join("/")}${verb}`;
}
