// Written by Tools/console from Modules/Gateway/Console/Web; do not edit.
/// The files of the console, by their names.
enum ConsoleFiles {
  static let all: [String: String] = [
    "api.js": #"""
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

"""#,
    "backup.js": #"""
// Copies of the data: whole trees as JSON, and the commands for everything.
import { databases, request, session, treeTarget } from "./api.js";
import { announce, attempt, h, replace, save, select } from "./dom.js";
import { bytes } from "./overview.js";

export function backupPage() {
  const chosen = select([session.database], session.database, { "aria-label": "Database" });
  databases().then((all) => {
    const options = [...new Set([session.database, ...all])];
    replace(chosen, options.map((name) => h("option", { value: name }, name)));
    chosen.value = session.database;
  }, () => {});
  const exportTree = async () => {
    const target = treeTarget([], { format: "export", ns: chosen.value });
    const response = await request("GET", target);
    save(await response.blob(), `${chosen.value}.json`);
    announce("Exported");
  };
  const state = h("p", { class: "hint", role: "status" });
  /** Reads everything as of one moment, piece by piece. */
  const backUp = async () => {
    const response = await request("GET", "/-/backup").catch((error) => {
      throw error.status === 404 ? new Error("This server makes no backups over HTTP.") : error;
    });
    const parts = [];
    let count = 0;
    for (const reader = response.body.getReader(); ;) {
      const { done, value } = await reader.read();
      if (done) break;
      parts.push(value);
      count += value.length;
      state.textContent = `${bytes(count)} read`;
    }
    const version = response.headers.get("tern-version");
    save(new Blob(parts), `tern${version ? `-${version}` : ""}.ternbackup`);
    announce("The backup is complete");
  };
  const address = location.host;
  const isTLS = location.protocol === "https:" ? " --tls" : "";
  const element = h("section", { class: "page" }, h("h1", {}, "Backup"),
    h("h2", {}, "Everything"),
    h("p", {}, "A backup has all databases of both models, the rules and the settings as of one moment."),
    h("div", { class: "row" },
      h("button", { type: "button", onclick: () => attempt(backUp) }, "Download a backup"), state),
    h("p", {}, "The same on the command line, which needs no memory for it:"),
    h("pre", { class: "output" }, `tern backup all.ternbackup --server ${address}${isTLS}\ntern restore all.ternbackup --path new-data`),
    h("h2", {}, "One tree as JSON"),
    h("p", {}, "The text that the Realtime Database's own console exports and imports, with priorities."),
    h("div", { class: "row" }, chosen,
      h("button", { type: "button", class: "primary", onclick: () => attempt(exportTree) }, "Export")),
    h("p", { class: "hint" }, "To import a file, choose a node of the tree."));
  return { element, close() {} };
}

"""#,
    "console.css": #"""
:root {
  color-scheme: light dark;
  --back: #f6f8fa; --surface: #ffffff; --text: #1b2733; --muted: #566473; --line: #d3dbe3; --accent: #0b6287;
  --accent-text: #ffffff; --choice: #e0eff6; --flash: #fff1bf; --bad: #b3261e; --good: #1d6b36; --key: #0b4f9e;
  --string: #8a3d00; --number: #6a2fa0; --field: #ffffff; --field-line: #7b8a98;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #10161c; --surface: #18212a; --text: #e3e9ee; --muted: #a3b1be; --line: #33414e; --accent: #6cc4ea;
    --accent-text: #08222f; --choice: #1f3d4d; --flash: #4a4114; --bad: #ff9a90; --good: #7fd69b; --key: #8fc1ff;
    --string: #f3b37c; --number: #d2a8ff; --field: #10161c; --field-line: #7b8a98;
  }
}
* { box-sizing: border-box; }
html, body { height: 100%; margin: 0; }
body { overflow: hidden; background: var(--back); color: var(--text); font: 15px/1.45 system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
#app { display: grid; height: 100vh; height: 100dvh; grid-template: auto minmax(0, 1fr) / 11rem minmax(0, 1fr); }
header { grid-column: 1 / -1; display: flex; align-items: center; gap: .6rem; padding: .5rem 1rem; border-bottom: 1px solid var(--line); background: var(--surface); }
.pages { display: flex; flex-direction: column; padding: .75rem .5rem; gap: .15rem; border-right: 1px solid var(--line); background: var(--surface); }
.pages a, .tab { padding: .45rem .75rem; border-radius: 6px; color: var(--text); text-decoration: none; }
.pages a:hover, .tab:hover { background: var(--choice); }
.pages a[aria-current], .tab[aria-current] { background: var(--choice); color: var(--accent); font-weight: 600; }
main { min-width: 0; min-height: 0; overflow: auto; padding: 1rem; outline: none; }
.page { display: flex; flex-direction: column; gap: .75rem; max-width: 90rem; }
.page.fill { height: 100%; min-height: 26rem; max-width: none; }
h1, h2, h3 { margin: 0; line-height: 1.25; }
h1 { font-size: 1.35rem; } h2 { font-size: 1.05rem; } h3 { font-size: .95rem; }
p { margin: 0; }
a { color: var(--accent); }
button, input, select, textarea { font: inherit; color: inherit; }
code, pre, textarea, .tree-row, .in-place input { font-family: ui-monospace, "SF Mono", "DejaVu Sans Mono", Consolas, monospace; font-size: 13px; }
input, select, textarea { background: var(--field); border: 1px solid var(--field-line); border-radius: 5px; padding: .3rem .5rem; min-width: 0; width: 100%; }
select { width: auto; max-width: 100%; }
textarea { resize: vertical; }
input[type="checkbox"] { width: auto; }
.short { width: 9.5rem; }
button { background: var(--surface); border: 1px solid var(--field-line); border-radius: 5px; padding: .3rem .75rem; cursor: pointer; white-space: nowrap; min-height: 2rem; }
button:hover { border-color: var(--accent); }
button.primary { background: var(--accent); color: var(--accent-text); border-color: var(--accent); }
button.danger { color: var(--bad); border-color: var(--bad); }
button.small { min-height: 1.75rem; padding: .15rem .6rem; font-size: 14px; }
button.plain, button.link { background: none; border: none; padding: 0 .4rem; min-height: 1.5rem; }
button.link { color: var(--accent); text-decoration: underline; padding: 0; font: inherit; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
.row { display: flex; align-items: center; gap: .5rem; }
.row.wrap { flex-wrap: wrap; align-items: end; }
.row.end { justify-content: flex-end; margin-top: 1rem; }
.grow { flex: 1 1 auto; min-width: 0; }
.column { display: flex; flex-direction: column; gap: .5rem; min-width: 0; min-height: 0; }
.columns { display: grid; grid-template-columns: minmax(9rem, 13rem) minmax(0, 1fr) minmax(0, 1.2fr); gap: 1rem; flex: 1; min-height: 0; }
.columns > .column { overflow: auto; padding: 3px; }
.field { display: flex; flex-direction: column; gap: .15rem; min-width: 7rem; }
.row.wrap > .field { flex: 0 1 10rem; }
.field[hidden] { display: none; }
label { font-size: 13px; color: var(--muted); }
.hint { color: var(--muted); font-size: 13px; }
.bad { color: var(--bad); } .good { color: var(--good); }
.box { border: 1px solid var(--line); border-radius: 8px; background: var(--surface); padding: .6rem .8rem; }
details.box > summary { cursor: pointer; }
details.box[open] > summary { margin-bottom: .5rem; }
details form { display: flex; flex-direction: column; gap: .5rem; }
details form.row { flex-direction: row; }
.ellipsis { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.nowrap { white-space: nowrap; }
.plain-list { list-style: none; margin: 0; padding: 0; }
.plain-list li { padding: .1rem 0; overflow-wrap: anywhere; }
.hidden-text { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip { position: absolute; left: -100vw; top: 0; background: var(--surface); padding: .5rem; z-index: 5; }
.skip:focus { left: 0; }
.host { color: var(--muted); }
.state { font-size: 13px; color: var(--muted); }
.state.online::before { content: "● "; color: var(--good); }
.state.offline::before, .state.denied::before { content: "● "; color: var(--bad); }
.badge { border: 1px solid var(--field-line); border-radius: 99px; padding: 0 .6rem; font-size: 13px; }

.virtual { position: relative; overflow: auto; flex: 1 1 auto; min-height: 12rem; border: 1px solid var(--line); border-radius: 8px; background: var(--surface); contain: strict; }
.virtual.result { flex: none; min-height: 0; margin-top: .4rem; }
.canvas { position: relative; min-width: 100%; }
.tree-row, .result-row { position: absolute; left: 0; right: 0; display: flex; align-items: center; white-space: pre; overflow: hidden; cursor: default; padding: 0 6px; }
.tree-row .value { overflow: hidden; text-overflow: ellipsis; }
.tree-row .key { color: var(--key); }
.tree-row .twist { width: 18px; flex: none; text-align: center; cursor: pointer; color: var(--muted); }
.tree-row.selected, .result-row.selected { background: var(--choice); }
.virtual:focus-visible .selected { outline: 2px solid var(--accent); outline-offset: -2px; }
.virtual:focus-visible .current { outline: 2px solid var(--accent); outline-offset: -2px; }
.tree-row.changed { animation: flash 1.5s; }
.result-row { flex-direction: column; align-items: stretch; justify-content: center; padding: 0 .6rem; cursor: pointer; border-bottom: 1px solid var(--line); }
@keyframes flash { from { background: var(--flash); } }
@media (prefers-reduced-motion: reduce) { .tree-row.changed { animation: none; background: var(--flash); } }
.value.string { color: var(--string); } .value.number, .value.bigint, .value.boolean { color: var(--number); }
.in-place { position: absolute; left: 6px; right: 6px; z-index: 2; display: flex; gap: .4rem; padding: .3rem; border: 1px solid var(--accent); border-radius: 6px; background: var(--surface); }

.entry { display: flex; gap: .4rem; align-items: flex-start; margin-bottom: .35rem; }
.entry .name { flex: 0 1 9rem; }
.entry.nested { flex-wrap: wrap; }
.entry.nested > .grow { flex-basis: 100%; order: 1; padding-left: 1rem; border-left: 2px solid var(--line); }

.code { display: flex; border: 1px solid var(--field-line); border-radius: 6px; overflow: hidden; background: var(--field); }
.code:focus-within { outline: 2px solid var(--accent); outline-offset: 1px; }
.code textarea { border: none; outline: none; line-height: 20px; white-space: pre; border-radius: 0; resize: none; }
.line-numbers { font: 13px/20px ui-monospace, "DejaVu Sans Mono", Consolas, monospace; white-space: pre; text-align: right; padding: .3rem .5rem; color: var(--muted); border-right: 1px solid var(--line); overflow: hidden; height: 450px; flex: none; }
.problems li { font-size: 14px; }
.output { margin: 0; padding: .6rem .8rem; border: 1px solid var(--line); border-radius: 6px; background: var(--surface); white-space: pre-wrap; overflow-wrap: anywhere; max-height: 24rem; overflow: auto; }
.output.good, .output.bad { color: var(--text); border-left: 4px solid var(--good); }
.output.bad { border-left-color: var(--bad); }

.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(10rem, 1fr)); gap: .6rem; margin: 0; }
.figures > div { border: 1px solid var(--line); border-radius: 8px; background: var(--surface); padding: .5rem .75rem; }
dt { color: var(--muted); font-size: 13px; } dd { margin: 0; font-size: 1.15rem; font-variant-numeric: tabular-nums; }
.scroll { overflow: auto; border: 1px solid var(--line); border-radius: 8px; background: var(--surface); max-height: 26rem; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th, td { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
th { position: sticky; top: 0; background: var(--surface); color: var(--muted); font-weight: 600; white-space: nowrap; }
tbody tr:last-child td { border-bottom: none; }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(16rem, 1fr)); gap: .75rem; }
.card { border: 1px solid var(--line); border-radius: 8px; background: var(--surface); padding: .6rem .8rem; min-width: 0; display: flex; flex-direction: column; gap: .3rem; }
.card h2 { font-size: .9rem; }
.chart { width: 100%; height: 56px; border-bottom: 1px solid var(--line); }
.line { fill: none; stroke-width: 1.5; vector-effect: non-scaling-stroke; }
.legend { font-size: 13px; } .legend .mark { display: inline-block; width: .7rem; height: .2rem; margin-right: .35rem; vertical-align: middle; background: var(--series); }
.line-0 { --series: #1f83b4; } .line-1 { --series: #d1701f; } .line-2 { --series: #3f9a46; } .line-3 { --series: #9a57c4; }
.line-4 { --series: #b8963a; } .line-5 { --series: #c4506f; } .line-6 { --series: #4fa3a0; } .line-7 { --series: #7d7f86; }
.line { stroke: var(--series); }

dialog { border: 1px solid var(--line); border-radius: 10px; background: var(--surface); color: var(--text); padding: 1.1rem; width: min(42rem, calc(100vw - 1.5rem)); max-height: calc(100vh - 2rem); }
dialog::backdrop { background: #0008; }
dialog form { display: flex; flex-direction: column; gap: .6rem; }
.sign-in { display: flex; flex-direction: column; gap: .75rem; width: min(34rem, 100%); margin: 8vh auto 0; padding: 1.4rem; }
#app > main:only-child { grid-column: 1 / -1; grid-row: 1 / -1; }
#notices { position: fixed; right: 1rem; bottom: 1rem; display: flex; flex-direction: column; gap: .5rem; max-width: min(30rem, calc(100vw - 2rem)); z-index: 10; }
.notice { display: flex; gap: .5rem; align-items: flex-start; justify-content: space-between; padding: .6rem .8rem; border: 1px solid var(--line); border-left: 4px solid var(--good); border-radius: 8px; background: var(--surface); overflow-wrap: anywhere; }
.notice.error { border-left-color: var(--bad); }

@media (max-width: 760px) {
  #app { grid-template: auto auto minmax(0, 1fr) / minmax(0, 1fr); }
  .pages { flex-direction: row; overflow-x: auto; border-right: none; border-bottom: 1px solid var(--line); padding: .35rem .5rem; }
  .pages a { padding: .35rem .6rem; }
  main { padding: .6rem; }
  .columns { grid-template-columns: minmax(0, 1fr); overflow: visible; }
  .page.fill { height: auto; }
  .columns > .column { overflow: visible; }
  .virtual { height: 22rem; flex: none; }
  [role="toolbar"] { flex-wrap: wrap; }
  [role="toolbar"] code { flex-basis: 100%; }
  .entry { flex-wrap: wrap; }
  .entry .name { flex: 1 1 40%; }
  .entry > .grow { flex-basis: 70%; }
}

"""#,
    "documents.js": ##"""
// The document browser: collections, documents page by page, a typed editor.
import { documentsRoot, documentTarget, json, session } from "./api.js";
import { announce, ask, attempt, chooseFile, field, h, notice, replace, save } from "./dom.js";
import { FieldsEditor } from "./fields.js";
import { encode, parse } from "./json.js";
import { FilterBar, ResultList } from "./results.js";

export function documentsPage(context, parameters) {
  return new DocumentsPage(context, (parameters.get("path") ?? "").split("/").filter(Boolean));
}

class DocumentsPage {
  /** @param path the parts of a collection's or a document's path */
  constructor(context, path) {
    this.context = context;
    this.path = path;
    const isDocument = path.length > 0 && path.length % 2 === 0;
    this.collection = isDocument ? path.slice(0, -1) : path;
    this.document = isDocument ? path : undefined;
    this.side = h("div", { class: "column" });
    this.middle = h("div", { class: "column grow" });
    this.editor = h("div", { class: "column grow" });
    this.head = h("div", { class: "row wrap" }, this.chooser(), this.crumbs());
    this.element = h("section", { class: "page fill" },
      h("h1", { class: "hidden-text" }, "Documents"),
      this.head,
      h("div", { class: "columns" }, this.side, this.middle, this.editor));
    this.showCollections();
    if (this.collection.length) this.showResults();
    if (this.document) this.showDocument();
    else replace(this.editor, h("p", { class: "hint" }, "Choose a document."));
  }

  close() { this.results?.close(); }

  /** Shows another document of the same collection without reading the list again. */
  accepts(parameters) {
    const path = (parameters.get("path") ?? "").split("/").filter(Boolean);
    const isDocument = path.length > 0 && path.length % 2 === 0;
    const collection = isDocument ? path.slice(0, -1) : path;
    if (!collection.length || collection.join("/") !== this.collection.join("/")) return false;
    this.path = path;
    this.document = isDocument ? path : undefined;
    this.version = undefined;
    this.head.replaceChildren(this.chooser(), this.crumbs());
    this.results.select(this.document?.at(-1));
    if (this.document) this.showDocument();
    else replace(this.editor, h("p", { class: "hint" }, "Choose a document."));
    return true;
  }

  chooser() {
    const change = () => {
      session.choose("project", project.value.trim() || "demo");
      session.choose("documentDatabase", database.value.trim() || "(default)");
      if (this.path.length) this.go([]);
      else this.context.reload();
    };
    const project = h("input", { value: session.project, "aria-label": "Project", class: "short", onchange: change });
    const database = h("input", {
      value: session.documentDatabase, "aria-label": "Database", class: "short", onchange: change,
    });
    return h("span", { class: "row" }, project, database);
  }

  crumbs() {
    const links = this.path.map((part, index) => [
      " / ", h("a", { href: link(this.path.slice(0, index + 1)) }, part)]);
    return h("nav", { "aria-label": "Path", class: "crumbs grow" }, h("a", { href: link([]) }, "root"), links);
  }

  go(path) { location.hash = link(path); }

  // MARK: Collections

  async showCollections() {
    const parent = this.collection.slice(0, -1);
    replace(this.side, h("h2", {}, "Collections"), h("p", { class: "hint" }, "reading …"));
    const list = await this.collections(parent);
    replace(this.side, h("h2", {}, "Collections"),
      list.length ? null : h("p", { class: "hint" }, "There are none."),
      h("ul", { class: "plain-list" }, list.map((id) => {
        const isHere = id === this.collection.at(-1);
        return h("li", {}, h("a", { href: link([...parent, id]), "aria-current": isHere ? "true" : undefined }, id));
      })),
      h("form", { class: "row", onsubmit: (event) => this.openCollection(event, parent) },
        h("input", { "aria-label": "Collection", placeholder: "collection", class: "short", name: "id", autocomplete: "off" }),
        h("button", { type: "submit", class: "small" }, "Open")));
  }

  async collections(parent) {
    try {
      const ids = [];
      let pageToken;
      do {
        const answer = await json("POST",
          documentTarget([documentsRoot(), ...parent].join("/"), ":listCollectionIds"), { pageSize: 300, pageToken });
        ids.push(...(answer.collectionIds ?? []));
        pageToken = answer.nextPageToken;
      } while (pageToken && ids.length < 3_000);
      return ids;
    } catch (error) {
      notice(error.message, true);
      return [];
    }
  }

  openCollection(event, parent) {
    event.preventDefault();
    const id = event.target.elements.id.value.trim();
    if (id && !id.includes("/")) this.go([...parent, id]);
  }

  // MARK: Documents

  showResults() {
    this.results = new ResultList(this.collection, {
      selected: this.document?.at(-1),
      choose: (id) => this.go([...this.collection, id]),
    });
    this.filters = new FilterBar((query) => this.results.ask(query));
    replace(this.middle,
      h("div", { class: "row" }, h("h2", { class: "grow ellipsis" }, this.collection.at(-1)),
        h("button", { type: "button", class: "small", onclick: () => attempt(() => this.create()) }, "Add")),
      this.filters.element, this.results.element);
    this.results.ask({});
  }

  async create() {
    const id = h("input", { autocomplete: "off", spellcheck: "false", placeholder: "automatic" });
    const editor = new FieldsEditor(false, "Fields").set({});
    const added = await ask("Add a document", [field("Id", id), editor.element], {
      action: "Add",
      read: () => {
        if (id.value.includes("/")) throw new Error("An id holds no slash.");
        return { id: id.value.trim(), content: editor.read() };
      },
    });
    if (!added) return;
    const target = documentTarget([documentsRoot(), ...this.collection].join("/"))
      + (added.id ? `?documentId=${encodeURIComponent(added.id)}` : "");
    const made = await json("POST", target, added.content);
    announce("Added");
    this.go([...this.collection, made.name.split("/").at(-1)]);
  }

  get name() { return [documentsRoot(), ...this.document].join("/"); }

  async showDocument() {
    let found;
    const name = this.name;
    const isShown = () => this.document && name === this.name;
    // The editor of another document would take what is typed meanwhile.
    replace(this.editor, h("h2", { class: "ellipsis" }, this.document.at(-1)), h("p", { class: "hint" }, "reading …"));
    try {
      found = await json("GET", documentTarget(name));
    } catch (error) {
      if (error.status !== 404) {
        if (isShown()) replace(this.editor, h("p", { class: "bad" }, error.message));
        return;
      }
    }
    if (!isShown()) return;
    this.version = found?.updateTime;
    const fields = new FieldsEditor(false, "Fields").set(found ?? {});
    const button = (label, action, attributes = {}) =>
      h("button", { type: "button", onclick: () => attempt(action), ...attributes }, label);
    const below = h("ul", { class: "plain-list" });
    replace(this.editor,
      h("h2", { class: "ellipsis" }, this.document.at(-1)),
      this.state = h("p", { class: "hint" }, found ? `changed ${found.updateTime}` : "There is no such document; saving makes it."),
      fields.element,
      h("div", { class: "row wrap" },
        button("Save", () => this.save(fields.read()), { class: "primary" }),
        button("Edit as JSON", () => this.editJSON(fields)),
        button("Export", () => save(encode(fields.read(), 2), `${this.document.at(-1)}.json`)),
        button("Import", () => this.importFile(fields)),
        button("Remove", () => this.remove(), { class: "danger" })),
      h("h3", {}, "Sub-collections"), below,
      h("form", { class: "row", onsubmit: (event) => this.openCollection(event, this.document) },
        h("input", { "aria-label": "Sub-collection", placeholder: "collection", class: "short", name: "id", autocomplete: "off" }),
        h("button", { type: "submit", class: "small" }, "Open")));
    const ids = await this.collections(this.document);
    replace(below, ids.map((id) => h("li", {}, h("a", { href: link([...this.document, id]) }, id))));
  }

  /** Saves all fields, unless the document was changed since it was read. */
  async save(content) {
    const precondition = this.version ? { updateTime: this.version } : { exists: false };
    const answer = await json("POST", documentTarget(documentsRoot(), ":commit"), {
      writes: [{ update: { name: this.name, ...content }, currentDocument: precondition }],
    }).catch((error) => {
      if (error.status !== 400 && error.status !== 409) throw error;
      throw new Error(`It was changed meanwhile: ${error.message}`);
    });
    this.version = answer.writeResults?.[0]?.updateTime ?? this.version;
    this.state.textContent = `changed ${this.version}`;
    announce("Saved");
    notice(`${this.document.at(-1)} was saved.`);
    this.results?.refresh();
  }

  async editJSON(fields) {
    const area = h("textarea", { rows: 16, spellcheck: "false", value: encode(fields.read(), 2) });
    const content = await ask("Fields as the REST service writes them", field("JSON", area),
      { action: "Take", read: () => parse(area.value) });
    if (content) fields.set(content);
  }

  async importFile(fields) {
    const file = await chooseFile(".json,application/json");
    if (!file) return;
    fields.set(parse(await file.text()));
    notice("The fields were read; Save stores them.");
  }

  async remove() {
    const isSure = await ask(`Remove ${this.document.join("/")}?`,
      h("p", {}, "Its sub-collections stay."), { action: "Remove", danger: true });
    if (!isSure) return;
    await json("DELETE", documentTarget(this.name));
    announce("Removed");
    this.go(this.collection);
  }
}

function link(path) {
  return path.length ? `#/documents?path=${encodeURIComponent(path.join("/"))}` : "#/documents";
}

"""##,
    "dom.js": #"""
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

"""#,
    "fields.js": #"""
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

"""#,
    "icon.svg": ##"""
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
  <rect width="32" height="32" rx="7" fill="#0b6e99"/>
  <path d="M4 13c5-2 9-1 12 3 3-4 7-5 12-3-4 1-7 3-9 7l-3 6-3-6c-2-4-5-6-9-7z" fill="#fff"/>
</svg>

"""##,
    "index.html": #"""
<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Tern console</title>
    <link rel="icon" href="/-/console/icon.svg" type="image/svg+xml">
    <link rel="stylesheet" href="/-/console/console.css">
    <script type="module" src="/-/console/main.js"></script>
  </head>
  <body>
    <noscript>The console needs JavaScript.</noscript>
    <div id="app"></div>
    <div id="announcements" class="hidden-text" role="status" aria-live="polite"></div>
    <div id="notices" role="region" aria-label="Notices"></div>
  </body>
</html>

"""#,
    "json.js": #"""
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

"""#,
    "main.js": ##"""
// The frame of the console: signing in, the pages, and the connection they share.
import { session } from "./api.js";
import { backupPage } from "./backup.js";
import { documentsPage } from "./documents.js";
import { announce, field, h, replace } from "./dom.js";
import { metricsPage } from "./metrics.js";
import { overviewPage } from "./overview.js";
import { rulesPage } from "./rules.js";
import { TreeSocket } from "./socket.js";
import { tokensPage } from "./tokens.js";
import { treePage } from "./tree.js";

const pages = [
  ["overview", "Overview", overviewPage], ["tree", "Tree", treePage], ["documents", "Documents", documentsPage],
  ["rules", "Rules", rulesPage], ["metrics", "Metrics", metricsPage], ["backup", "Backup", backupPage],
  ["tokens", "Tokens", tokensPage],
];

const app = document.getElementById("app");
let page;
let pageName;
let socket;
let main;
let navigation;
let connection;

const context = {
  /** The connection about trees, for the database that is chosen. */
  socket() {
    if (socket?.database !== session.database) {
      socket?.close();
      socket = new TreeSocket(session.database, (state) => {
        connection.textContent = { online: "live", offline: "connecting …", denied: "denied" }[state];
        connection.className = `state ${state}`;
      });
    }
    return socket;
  },
  chooseDatabase(name) {
    session.choose("database", name);
    context.reload();
  },
  reload() { show(true); },
};

function parse() {
  const [name, query] = location.hash.replace(/^#\/?/, "").split("?");
  return { name: pages.some(([known]) => known === name) ? name : "overview", parameters: new URLSearchParams(query) };
}

function show(isNew = false) {
  const { name, parameters } = parse();
  if (!isNew && name === pageName && page?.accepts?.(parameters)) return;
  page?.close();
  const [, title, make] = pages.find(([known]) => known === name);
  const isOther = pageName !== name;
  pageName = name;
  page = make(context, parameters);
  replace(main, page.element);
  document.title = `${title} – Tern console`;
  for (const link of navigation.querySelectorAll("a")) {
    const isHere = link.dataset.page === name;
    if (isHere) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (isOther) announce(title);
}

function frame() {
  connection = h("span", { class: "state", role: "status" });
  navigation = h("nav", { "aria-label": "Pages", class: "pages" },
    pages.map(([name, title]) => h("a", { href: `#/${name}`, "data-page": name }, title)));
  main = h("main", { id: "main", tabindex: "-1" });
  const skip = h("a", {
    href: "#main", class: "skip",
    onclick: (event) => {
      event.preventDefault();
      main.focus();
    },
  }, "Skip to the content");
  const leave = session.isDevelopment
    ? h("span", { class: "badge", title: "The server was started with --dev; programs of this machine are administrators." }, "development")
    : h("button", { type: "button", class: "small", onclick: signOut }, "Sign out");
  replace(app, skip,
    h("header", {}, h("img", { src: "/-/console/icon.svg", alt: "", width: 24, height: 24 }), h("strong", {}, "Tern"),
      h("span", { class: "host ellipsis grow" }, location.host), connection, leave),
    navigation, main);
}

function signOut() {
  session.close();
  page?.close();
  socket?.close();
  [page, pageName, socket] = [];
  signIn();
}

function signIn(reason) {
  const token = h("textarea", { rows: 4, spellcheck: "false", autocomplete: "off" });
  const problem = h("p", { class: "bad", role: "alert" }, reason ?? "");
  const form = h("form", {
    class: "sign-in box",
    onsubmit: async (event) => {
      event.preventDefault();
      problem.textContent = "";
      try {
        if (!token.value.trim()) throw new Error("A token is needed.");
        await session.open(token.value);
        begin();
      } catch (error) {
        problem.textContent = error.message;
        token.focus();
      }
    },
  }, h("h1", {}, "Tern console"),
  field("Token of an administrator", token, "Kept until this tab is closed. tern auth sign --administrator makes one."),
  problem, h("button", { type: "submit", class: "primary" }, "Sign in"));
  replace(app, h("main", {}, form));
  document.title = "Tern console";
  token.focus();
}

function begin() {
  frame();
  show(true);
}

window.addEventListener("hashchange", () => { if (main?.isConnected && pageName) show(); });

try {
  if (await session.open()) begin();
  else signIn();
} catch (error) {
  signIn(error.message);
}

"""##,
    "metrics.js": ##"""
// Metrics as small charts, from the text that a monitoring system reads.
import { request } from "./api.js";
import { field, h, replace, svg } from "./dom.js";

const pauseMilliseconds = 2_000;
const mostSamples = 150;
const fewestSamples = 30;
const mostCharts = 60;

/** Reads the text format of Prometheus: families with their samples. */
export function readMetrics(text) {
  const families = new Map();
  const family = (name) => {
    if (!families.has(name)) families.set(name, { name, type: "untyped", help: "", samples: [] });
    return families.get(name);
  };
  for (const line of text.split("\n")) {
    if (line.startsWith("# TYPE ")) {
      const [, , name, type] = line.split(" ");
      family(name).type = type;
    } else if (line.startsWith("# HELP ")) {
      const [, , name, ...words] = line.split(" ");
      family(name).help = words.join(" ");
    } else if (line && !line.startsWith("#")) {
      const match = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(line);
      if (!match) continue;
      const base = match[1].replace(/_(bucket|sum|count)$/, "");
      const owner = families.get(base)?.type === "histogram" ? base : match[1];
      family(owner).samples.push({ name: match[1], labels: labels(match[2] ?? ""), value: Number(match[3].replace("Inf", "Infinity")) });
    }
  }
  return [...families.values()].filter((one) => one.samples.length);
}

function labels(text) {
  const found = {};
  for (const [, name, value] of text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) found[name] = value.replace(/\\(.)/g, "$1");
  return found;
}

function labelText(all, without) {
  return Object.entries(all).filter(([name]) => name !== without).map(([, value]) => value).join(" ");
}

export function metricsPage() { return new MetricsPage(); }

class MetricsPage {
  constructor() {
    this.history = new Map();
    this.charts = new Map();
    this.find = h("input", { placeholder: "name", spellcheck: "false", oninput: () => this.draw() });
    this.state = h("p", { class: "hint", role: "status" });
    this.grid = h("div", { class: "charts" });
    this.element = h("section", { class: "page" }, h("h1", {}, "Metrics"), field("Find", this.find), this.state, this.grid);
    this.read();
  }

  close() { clearTimeout(this.timer); }

  async read() {
    try {
      const response = await request("GET", "/-/metrics");
      this.add(readMetrics(await response.text()));
      this.draw();
    } catch (error) {
      this.state.textContent = error.status === 404 ? "This server tells no metrics." : error.message;
      if (error.status === 404) return;
    }
    this.timer = setTimeout(() => this.read(), pauseMilliseconds);
  }

  add(families) {
    const now = performance.now();
    this.families = families;
    for (const one of families) {
      if (one.type === "histogram") this.addHistogram(one, now);
      else for (const sample of one.samples) this.addSample(one, sample, now);
    }
  }

  series(family, label) {
    const lines = this.history.get(family) ?? this.history.set(family, new Map()).get(family);
    return lines.get(label) ?? lines.set(label, { points: [], last: undefined }).get(label);
  }

  addSample(one, sample, now) {
    const line = this.series(one.name, labelText(sample.labels));
    if (one.type !== "counter") return push(line, sample.value);
    if (line.last) push(line, Math.max(0, (sample.value - line.last.value) / (now - line.last.now) * 1_000));
    line.last = { value: sample.value, now };
    return undefined;
  }

  /** The medians and the 99th percentiles of what came since the last reading. */
  addHistogram(one, now) {
    const groups = new Map();
    for (const sample of one.samples) {
      if (!sample.name.endsWith("_bucket")) continue;
      const label = labelText(sample.labels, "le");
      if (!groups.has(label)) groups.set(label, []);
      groups.get(label).push([Number(sample.labels.le.replace("Inf", "Infinity")), sample.value]);
    }
    for (const [label, buckets] of groups) {
      buckets.sort((a, b) => a[0] - b[0]);
      const before = this.series(one.name, `${label} p50`);
      const since = buckets.map(([bound, count], index) => [bound, count - (before.last?.value[index]?.[1] ?? count)]);
      for (const [part, name] of [[0.5, "p50"], [0.99, "p99"]]) {
        const value = quantile(since, part);
        push(this.series(one.name, `${label} ${name}`), value ?? 0);
      }
      before.last = { value: buckets, now };
    }
  }

  draw() {
    if (!this.families) return;
    const wanted = this.find.value.trim().toLowerCase();
    const shown = this.families.filter((one) => !wanted || one.name.includes(wanted) || one.help.toLowerCase().includes(wanted));
    this.state.textContent = `${this.families.length} metrics, ${shown.length} shown; rates are for each second`;
    replace(this.grid, shown.slice(0, mostCharts).map((one) => this.chart(one)));
  }

  chart(one) {
    const lines = [...(this.history.get(one.name) ?? [])].filter(([, line]) => line.points.length).slice(0, 8);
    const most = Math.max(1e-9, ...lines.flatMap(([, line]) => line.points));
    const [width, height] = [240, 56];
    const unit = one.type === "counter" ? "/s" : "";
    const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", "aria-hidden": "true", preserveAspectRatio: "none" },
      lines.map(([, line], index) => svg("polyline", {
        class: `line line-${index % 8}`,
        points: line.points.map((value, at) =>
          `${(width - (line.points.length - 1 - at) * width / (Math.max(fewestSamples, line.points.length) - 1)).toFixed(1)},${(height - 2 - value / most * (height - 6)).toFixed(1)}`).join(" "),
      })));
    const values = lines.map(([label, line], index) => h("li", {},
      h("span", { class: `mark line-${index % 8}`, "aria-hidden": "true" }), label.trim() || "now", " ",
      h("strong", {}, number(line.points.at(-1)) + unit)));
    return h("article", { class: "card", "aria-label": one.name },
      h("h2", { class: "ellipsis", title: one.help }, one.name), h("p", { class: "hint" }, one.help),
      picture, h("ul", { class: "plain-list legend" }, values));
  }
}

function push(line, value) {
  line.points.push(Number.isFinite(value) ? value : 0);
  if (line.points.length > mostSamples) line.points.shift();
}

function quantile(buckets, part) {
  const total = buckets.at(-1)?.[1] ?? 0;
  if (total <= 0) return undefined;
  const found = buckets.findIndex(([, count]) => count >= total * part);
  const [bound, count] = buckets[found];
  const [low, before] = found ? buckets[found - 1] : [0, 0];
  if (!Number.isFinite(bound)) return low;
  return low + (bound - low) * (total * part - before) / Math.max(1e-9, count - before);
}

function number(value) {
  if (value === undefined) return "–";
  if (value !== 0 && Math.abs(value) < 0.01) return value.toExponential(1);
  return value.toLocaleString("en", { maximumFractionDigits: Math.abs(value) < 10 ? 2 : 0 });
}

"""##,
    "overview.js": #"""
// The state of the server: figures, sessions, databases.
import { json, request } from "./api.js";
import { announce, ask, attempt, field, h, replace } from "./dom.js";

const pauseMilliseconds = 2_000;

export function bytes(count) {
  if (count === null || count === undefined) return "–";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let [value, unit] = [count, 0];
  while (value >= 1024 && unit < units.length - 1) [value, unit] = [value / 1024, unit + 1];
  return `${value.toLocaleString("en", { maximumFractionDigits: value < 10 && unit ? 1 : 0 })} ${units[unit]}`;
}

export function duration(milliseconds) {
  const seconds = Math.round((milliseconds ?? 0) / 1_000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ${Math.floor(seconds % 3_600 / 60)} min`;
  return `${Math.floor(seconds / 86_400)} d ${Math.floor(seconds % 86_400 / 3_600)} h`;
}

export function overviewPage() { return new OverviewPage(); }

class OverviewPage {
  constructor() {
    this.figures = h("dl", { class: "figures" });
    this.queues = h("div", {});
    this.sessions = h("div", {});
    this.databases = h("div", {});
    this.find = h("input", { placeholder: "address, user, database", oninput: () => this.drawSessions(), spellcheck: "false" });
    this.state = h("p", { class: "hint", role: "status" });
    this.element = h("section", { class: "page" }, h("h1", {}, "Overview"), this.state, this.figures,
      h("h2", {}, "Sessions and what they cost"), field("Find", this.find), this.sessions,
      h("h2", {}, "Queues and memory"), this.queues,
      h("h2", {}, "Databases"), this.databases);
    this.read();
    this.readDatabases();
  }

  close() { clearTimeout(this.timer); }

  async read() {
    try {
      this.status = await json("GET", "/-/status?connections=1000");
      this.draw();
    } catch (error) {
      this.state.textContent = error.status === 404 ? "This server tells no status." : error.message;
      if (error.status === 404) return;
    }
    this.timer = setTimeout(() => this.read(), pauseMilliseconds);
  }

  draw() {
    const { process = {}, memory = {}, store = {}, ledger = {}, totals = {}, sessions = {} } = this.status;
    const rate = (name) => this.rate(name, totals[name]);
    const figures = [
      ["Version", this.status.version], ["Up for", duration(this.status.uptimeMilliseconds)],
      ["Sessions", (sessions.tree ?? 0) + (sessions.documents ?? 0) + (sessions.fresh ?? 0)],
      ["Listens", sessions.listens], ["Distinct queries", sessions.queries],
      ["Requests a second", rate("requests")], ["Writes a second", rate("writes")],
      ["Events a second", rate("events")],
      ["Denials", totals.denials], ["Rate limited", totals.rateLimited],
      ["Memory of clients", `${bytes(memory.usedBytes)} of ${bytes(memory.limitBytes)}`],
      ["Process", bytes(process.residentBytes)], ["Descriptors", process.descriptors],
      [`Store (${store.kind ?? "–"})`, bytes(store.bytes)], ["Free on disk", bytes(store.freeBytes)],
      ["Newest commit", ledger.version],
    ];
    this.state.textContent = [this.status.state ?? "", ...(this.status.reasons ?? [])].join(", ");
    this.state.className = this.status.state === "serving" && !this.status.reasons?.length ? "good" : "bad";
    replace(this.figures, figures.filter(([, value]) => value !== undefined).map(([label, value]) =>
      h("div", {}, h("dt", {}, label), h("dd", {}, typeof value === "number" ? value.toLocaleString("en") : String(value)))));
    const uses = Object.entries(memory.uses ?? {}).map(([name, count]) => [`memory: ${name}`, bytes(count), "–"]);
    const queues = (this.status.queues ?? []).map((one) => [one.name, one.length, one.limit ?? "–"]);
    replace(this.queues, table("Queues and memory", ["Name", "Now", "Limit"], [...queues, ...uses]));
    this.drawSessions();
  }

  rate(name, total) {
    const now = performance.now();
    const before = (this.before ??= {})[name];
    this.before[name] = { total, now };
    if (!before || total === undefined) return undefined;
    return Math.max(0, Math.round((total - before.total) / (now - before.now) * 1_000));
  }

  drawSessions() {
    if (!this.status) return;
    const wanted = this.find.value.trim().toLowerCase();
    const all = this.status.connections ?? [];
    const shown = all.filter((one) => !wanted
      || [one.address, one.user, one.database, one.protocol, one.id].some((text) => text?.toLowerCase().includes(wanted)));
    const rows = shown.slice(0, 200).map((one) => [
      one.protocol, one.model ?? "–", one.user ?? (one.isAdministrator ? "administrator" : "anonymous"),
      one.database ?? "–", one.address, one.listens,
      bytes((one.listenBytes ?? 0) + (one.waitingBytes ?? 0) + (one.queuedBytes ?? 0)), one.frames,
      duration(one.ageMilliseconds), one.state,
      h("button", {
        type: "button", class: "small", "aria-label": `Close session ${one.id}`,
        onclick: () => attempt(() => this.end(one)),
      }, "Close"),
    ]);
    const omitted = (this.status.connectionsOmitted ?? 0) + Math.max(0, shown.length - 200);
    replace(this.sessions, table("Sessions",
      ["Protocol", "Model", "User", "Database", "Address", "Listens", "Holds", "Messages", "Age", "State", "Action"], rows),
    omitted ? h("p", { class: "hint" }, `${omitted} more`) : null);
  }

  async end(one) {
    const isSure = await ask(`Close session ${one.id}?`, h("p", {}, "Its client may come back."), { action: "Close", danger: true });
    if (!isSure) return;
    await request("DELETE", `/-/connections/${encodeURIComponent(one.id)}`);
    announce("Closed");
    clearTimeout(this.timer);
    this.read();
  }

  async readDatabases() {
    try {
      const { databases } = await json("GET", "/-/databases");
      replace(this.databases, table("Databases", ["Model", "Name", "Sessions", "Rows", "Bytes"],
        databases.slice(0, 500).map((one) => [one.model, one.name, one.sessions ?? 0,
          `${(one.rows ?? 0).toLocaleString("en")}${one.isWhole === false ? "+" : ""}`, bytes(one.bytes)])));
    } catch (error) {
      replace(this.databases, h("p", { class: "hint" }, error.status === 404 ? "This server counts no databases." : error.message));
    }
  }
}

export function table(label, heads, rows) {
  if (!rows.length) return h("p", { class: "hint" }, "none");
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
    h("table", {}, h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col" }, head)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell) => h("td", {}, cell)))))));
}

"""#,
    "query.js": #"""
// The bar of a query over the children of a node, and its live result.
import { field, h, notice, replace, select } from "./dom.js";
import { compareKeys, compareValues, isBranch, preview } from "./json.js";
import { literalField } from "./value.js";
import { VirtualList } from "./virtual.js";

const mostResults = 1_000;

export class QueryBar {
  constructor(socket, path, go) {
    this.socket = socket;
    this.path = path;
    this.go = go;
    this.rows = [];
    this.order = select([["key", "key"], ["value", "value"], ["priority", "priority"], ["child", "child …"]], "key");
    this.child = h("input", { placeholder: "name", spellcheck: "false", autocomplete: "off" });
    this.start = literalField("From", { placeholder: "any" });
    this.end = literalField("To", { placeholder: "any" });
    this.side = select([["l", "first"], ["r", "last"]], "l");
    this.limit = h("input", { type: "number", min: 1, max: mostResults, value: "100" });
    const childField = field("Child", this.child);
    childField.hidden = true;
    this.order.addEventListener("change", () => { childField.hidden = this.order.value !== "child"; });
    this.list = new VirtualList({
      attributes: { role: "list", "aria-label": "Result of the query", class: "virtual result" },
      render: (index) => this.row(index),
    });
    this.summary = h("p", { class: "hint", role: "status" });
    this.result = h("div", { hidden: true }, this.summary, this.list.element);
    this.element = h("details", { class: "box" }, h("summary", {}, "Query"),
      h("form", { class: "row wrap", onsubmit: (event) => this.run(event) },
        field("Order by", this.order), childField, this.start.element, this.end.element,
        field("Limit to", this.side), field("Number", this.limit),
        h("button", { type: "submit", class: "primary" }, "Run"),
        h("button", { type: "button", onclick: () => this.clear() }, "Clear")),
      this.result);
  }

  close() {
    this.unlisten?.();
    this.list.close();
  }

  clear() {
    this.unlisten?.();
    this.unlisten = undefined;
    this.result.hidden = true;
  }

  run(event) {
    event.preventDefault();
    const kind = this.order.value;
    const child = this.child.value.trim();
    if (kind === "child" && !child) return notice("Name the child to order by.", true);
    const count = Math.min(mostResults, Math.max(1, Number(this.limit.value) || 1));
    const query = { i: kind === "child" ? child : `.${kind}`, l: count, vf: this.side.value };
    const [start, end] = [this.start.read(), this.end.read()];
    if (isBranch(start) || isBranch(end)) return notice("A bound is a text, a number, true, false or null.", true);
    if (start !== undefined) query.sp = kind === "key" ? String(start) : start;
    if (end !== undefined) query.ep = kind === "key" ? String(end) : end;
    this.unlisten?.();
    this.result.hidden = false;
    this.summary.textContent = "reading …";
    const path = this.path();
    this.unlisten = this.socket.listen(path, query,
      (value) => this.show(path, value, kind, child),
      (error) => { this.summary.textContent = error.message; });
  }

  show(path, value, kind, child) {
    const entries = isBranch(value) ? Object.entries(value) : [];
    const sortable = (node) => {
      if (kind === "value") return plain(node);
      const below = child.split("/").reduce((inner, key) => (isBranch(inner) ? inner[key] : undefined), node);
      return kind === "priority" ? node?.[".priority"] : plain(below);
    };
    entries.sort((a, b) => (kind === "key" ? 0 : compareValues(sortable(a[1]), sortable(b[1]))) || compareKeys(a[0], b[0]));
    this.rows = entries.map(([key, node]) => ({ key, node, path: [...path, key] }));
    this.summary.textContent = `${entries.length} ${entries.length === 1 ? "child" : "children"}, live`;
    this.list.element.style.height = `${Math.min(10, Math.max(1, entries.length)) * this.list.rowHeight + 2}px`;
    this.list.setCount(entries.length);
  }

  row(index) {
    const { key, node, path } = this.rows[index];
    const element = h("div", { class: "tree-row", role: "listitem" });
    return replace(element,
      h("button", { type: "button", class: "link key", onclick: () => this.go(path) }, key),
      ": ", h("span", { class: "value" }, preview(node)));
  }
}

function plain(node) {
  return isBranch(node) && Object.hasOwn(node, ".value") ? node[".value"] : node;
}

"""#,
    "results.js": #"""
// The documents that a query selects, page by page; the page on the screen is listened to.
import { documentsRoot, documentTarget, json } from "./api.js";
import { field, h, notice, replace, select } from "./dom.js";
import { fieldText, types, valueFrom } from "./fields.js";
import { encode } from "./json.js";
import { VirtualList } from "./virtual.js";
import { DocumentWatch } from "./watch.js";

const pageSize = 200;
const settlingMilliseconds = 250;

const operators = [
  ["EQUAL", "=="], ["NOT_EQUAL", "!="], ["LESS_THAN", "<"], ["LESS_THAN_OR_EQUAL", "<="],
  ["GREATER_THAN", ">"], ["GREATER_THAN_OR_EQUAL", ">="], ["ARRAY_CONTAINS", "contains"],
];

/** Conditions and an order, as a part of a structured query. */
export class FilterBar {
  constructor(onQuery) {
    this.onQuery = onQuery;
    this.rows = [];
    this.list = h("div", {});
    this.order = h("input", { placeholder: "none", spellcheck: "false", autocomplete: "off" });
    this.direction = select([["ASCENDING", "ascending"], ["DESCENDING", "descending"]], "ASCENDING");
    this.element = h("details", { class: "box" }, h("summary", {}, "Filter"),
      h("form", { onsubmit: (event) => this.run(event) }, this.list,
        h("div", { class: "row wrap" }, field("Order by", this.order), field("Direction", this.direction)),
        h("div", { class: "row wrap" },
          h("button", { type: "button", class: "small", onclick: () => this.add() }, "Add a condition"),
          h("button", { type: "submit", class: "primary" }, "Run"),
          h("button", { type: "button", onclick: () => this.clear() }, "Clear"))));
    this.add();
  }

  add() {
    const row = {
      path: h("input", { "aria-label": "Field", placeholder: "field", class: "short", spellcheck: "false", autocomplete: "off" }),
      operator: select(operators, "EQUAL", { "aria-label": "Operator" }),
      type: select(types.filter((type) => type !== "map" && type !== "array"), "string", { "aria-label": "Type" }),
      value: h("input", { "aria-label": "Value", placeholder: "value", class: "short", spellcheck: "false", autocomplete: "off" }),
    };
    row.element = h("div", { class: "row wrap" }, row.path, row.operator, row.type, row.value,
      h("button", {
        type: "button", class: "plain", "aria-label": "Remove the condition",
        onclick: () => {
          this.rows = this.rows.filter((other) => other !== row);
          row.element.remove();
        },
      }, "×"));
    this.rows.push(row);
    this.list.append(row.element);
  }

  clear() {
    this.rows = [];
    this.list.replaceChildren();
    this.order.value = "";
    this.add();
    this.onQuery({});
  }

  run(event) {
    event.preventDefault();
    try {
      this.onQuery(this.query());
    } catch (error) {
      notice(error.message, true);
    }
  }

  query() {
    const filters = this.rows.filter((row) => row.path.value.trim()).map((row) => ({
      fieldFilter: {
        field: { fieldPath: row.path.value.trim() }, op: row.operator.value,
        value: valueFrom(row.type.value, row.value.value),
      },
    }));
    const query = {};
    if (filters.length === 1) [query.where] = filters;
    else if (filters.length) query.where = { compositeFilter: { op: "AND", filters } };
    const order = this.order.value.trim();
    if (order) query.orderBy = [{ field: { fieldPath: order }, direction: this.direction.value }];
    return query;
  }
}

export class ResultList {
  constructor(collection, { selected, choose }) {
    this.collection = collection;
    this.parent = documentTarget([documentsRoot(), ...collection.slice(0, -1)].join("/"), ":runQuery");
    this.countTarget = documentTarget(
      [documentsRoot(), ...collection.slice(0, -1)].join("/"), ":runAggregationQuery");
    this.selected = selected;
    this.choose = choose;
    this.documents = [];
    this.pages = [];
    this.isComplete = false;
    this.isFailed = false;
    this.generation = 0;
    this.summary = h("p", { class: "hint", role: "status" });
    this.list = new VirtualList({
      rowHeight: 44,
      attributes: { role: "listbox", "aria-label": `Documents of ${collection.at(-1)}` },
      render: (index) => this.row(index),
      onRange: (first, last) => this.show(first, last),
    });
    this.list.element.addEventListener("keydown", (event) => this.key(event));
    this.element = h("div", { class: "column grow" }, this.summary, this.list.element);
  }

  close() {
    this.unfollow();
    this.generation += 1;
    this.list.close();
  }

  select(id) {
    this.selected = id;
    this.refresh();
    this.list.schedule();
  }

  ask(query) {
    this.query = query;
    this.generation += 1;
    this.pages = [];
    this.documents = [];
    // A frame may come before the answer: no row of the former documents is left to draw.
    this.list.setCount(0);
    this.isComplete = false;
    this.isFailed = false;
    this.index = 0;
    this.count = undefined;
    this.isReading = false;
    this.isRefreshing = false;
    this.isStale = false;
    this.unfollow();
    this.more();
    this.countAll();
  }

  /** The query of the page behind a document. */
  structured(after) {
    const from = [{ collectionId: this.collection.at(-1) }];
    const orderBy = this.query.orderBy ?? [];
    const direction = orderBy.at(-1)?.direction ?? "ASCENDING";
    const structuredQuery = { from, where: this.query.where, limit: pageSize };
    // Inequalities order by their fields by themselves; a cursor must name them.
    const fields = orderBy.length ? orderBy : this.inequalities();
    structuredQuery.orderBy = [...fields, { field: { fieldPath: "__name__" }, direction }];
    if (after) {
      const values = fields.map((order) => valueAt(after, order.field.fieldPath));
      structuredQuery.startAt = { values: [...values, { referenceValue: after.name }], before: false };
    }
    return { structuredQuery };
  }

  inequalities() {
    const where = this.query.where;
    const filters = where?.compositeFilter?.filters ?? (where ? [where] : []);
    const unequal = filters.map((one) => one.fieldFilter)
      .filter((one) => one.op !== "EQUAL" && one.op !== "ARRAY_CONTAINS").map((one) => one.field.fieldPath);
    return [...new Set(unequal)].map((fieldPath) => ({ field: { fieldPath }, direction: "ASCENDING" }));
  }

  async read(after) {
    const answer = await json("POST", this.parent, this.structured(after));
    return answer.filter((one) => one.document).map((one) => one.document);
  }

  async more() {
    if (this.isReading || this.isComplete) return;
    this.isReading = true;
    const generation = this.generation;
    const after = this.documents.at(-1);
    try {
      const page = await this.read(after);
      if (generation !== this.generation) return;
      this.isFailed = false;
      this.pages.push({ after, start: this.documents.length });
      this.documents.push(...page);
      this.isComplete = page.length < pageSize;
      this.draw();
    } catch (error) {
      if (generation !== this.generation) return;
      // Not by each move on the screen, but when the listen begins.
      this.isComplete = true;
      this.isFailed = true;
      this.summary.textContent = error.message;
    } finally {
      if (generation === this.generation) {
        this.isReading = false;
        this.follow();
        if (this.isStale) this.refresh();
      }
    }
  }

  async countAll() {
    const generation = this.generation;
    const { structuredQuery } = this.structured();
    delete structuredQuery.limit;
    delete structuredQuery.orderBy;
    try {
      const [answer] = await json("POST", this.countTarget, {
        structuredAggregationQuery: { structuredQuery, aggregations: [{ alias: "n", count: {} }] },
      });
      if (generation !== this.generation) return;
      this.count = Number(answer.result.aggregateFields.n.integerValue);
      this.draw();
    } catch { /* The number is a help, no more. */ }
  }

  /** The page on the screen. */
  get pageIndex() {
    const [first] = this.list.range();
    return Math.max(0, this.pages.findLastIndex((page) => page.start <= first));
  }

  /** Listens to the page on the screen, unless it does already. */
  follow() {
    const { structuredQuery } = this.structured(this.pages[this.pageIndex]?.after);
    const key = encode(structuredQuery);
    if (this.followed === key) return;
    this.unfollow();
    this.followed = key;
    const parent = [documentsRoot(), ...this.collection.slice(0, -1)].join("/");
    this.watch = new DocumentWatch({ parent, structuredQuery }, {
      onChange: () => this.refresh(),
      onState: (isLive) => {
        this.isLive = isLive;
        if (!this.isFailed) this.draw();
      },
    });
  }

  unfollow() {
    clearTimeout(this.settling);
    this.watch?.close();
    this.watch = undefined;
    this.followed = undefined;
    this.isLive = false;
  }

  /** Reads the page on the screen again. */
  async refresh() {
    if (this.isReading || this.isRefreshing) {
      this.isStale = true;
      return;
    }
    this.isStale = false;
    if (this.isFailed) {
      this.isComplete = false;
      await this.more();
      return;
    }
    if (!this.pages.length) return;
    const index = this.pageIndex;
    const page = this.pages[index];
    const generation = this.generation;
    this.isRefreshing = true;
    try {
      const fresh = await this.read(page.after);
      if (generation !== this.generation) return;
      if (this.isReading) {
        this.isStale = true;
        return;
      }
      const end = this.pages[index + 1]?.start ?? this.documents.length;
      const old = this.documents.slice(page.start, end);
      if (isSame(old, fresh)) return;
      if (!isSame(old.map(nameOnly), fresh.map(nameOnly))) {
        // Later pages begin elsewhere now.
        this.documents.length = page.start;
        this.pages.length = index + 1;
        this.documents.push(...fresh);
        this.isComplete = fresh.length < pageSize;
        this.countAll();
      } else {
        this.documents.splice(page.start, old.length, ...fresh);
      }
      this.draw();
    } catch {
      // The listen fails as well, and begins again.
    } finally {
      if (generation === this.generation) {
        this.isRefreshing = false;
        if (this.isStale && !this.isReading) this.refresh();
      }
    }
  }

  show(first, last) {
    if (last >= this.documents.length - pageSize / 2) this.more();
    if (!this.pages.length) return;
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.follow(), settlingMilliseconds);
  }

  draw() {
    const shown = this.documents.length.toLocaleString("en");
    const total = this.count === undefined ? (this.isComplete ? shown : `${shown}+`) : this.count.toLocaleString("en");
    this.summary.textContent = `${total} documents, ${shown} read, ${this.isLive ? "live" : "connecting …"}`;
    this.list.setCount(this.documents.length);
  }

  row(index) {
    const document = this.documents[index];
    const id = document.name.split("/").at(-1);
    const text = Object.entries(document.fields ?? {}).slice(0, 8)
      .map(([name, value]) => `${name}: ${fieldText(value, 40)}`).join(", ");
    const isSelected = id === this.selected;
    const element = h("div", {
      role: "option", class: `result-row${isSelected ? " selected" : ""}${index === this.index ? " current" : ""}`,
      "aria-selected": String(isSelected), "aria-posinset": index + 1, "aria-setsize": this.count ?? -1,
      id: `result-${index}`, onclick: () => this.choose(id),
    });
    if (index === this.index) this.list.element.setAttribute("aria-activedescendant", element.id);
    return replace(element, h("strong", { class: "ellipsis" }, id), h("span", { class: "hint ellipsis" }, text));
  }

  key(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
    if (event.key === "Enter" && this.documents[this.index]) {
      return this.choose(this.documents[this.index].name.split("/").at(-1));
    }
    const step = steps[event.key];
    if (step === undefined) return undefined;
    event.preventDefault();
    this.index = Math.max(0, Math.min(this.documents.length - 1, (this.index ?? 0) + step));
    this.list.reveal(this.index);
    return undefined;
  }
}

function nameOnly(document) { return { name: document.name }; }

function isSame(left, right) {
  return left.length === right.length
    && left.every((one, index) => one.name === right[index].name && one.updateTime === right[index].updateTime);
}

function valueAt(document, path) {
  let value = { mapValue: { fields: document.fields ?? {} } };
  if (path === "__name__") return { referenceValue: document.name };
  for (const part of path.split(".")) value = value?.mapValue?.fields?.[part.replace(/^`|`$/g, "")];
  return value ?? { nullValue: null };
}

"""#,
    "rules.js": #"""
// Rules of both languages: checked while they are typed, explained, deployed; and the latest denials.
import { json, request, session } from "./api.js";
import { announce, ask, attempt, field, h, notice, replace, select } from "./dom.js";
import { literalField } from "./value.js";

const checkPauseMilliseconds = 300;
const denialPauseMilliseconds = 3_000;

export function rulesPage(context, parameters) {
  return new RulesPage(context, parameters.get("language") === "documents" ? "documents" : "tree");
}

class RulesPage {
  constructor(context, language) {
    this.language = language;
    const tab = (name, label) => h("a", {
      href: `#/rules?language=${name}`, "aria-current": name === language ? "page" : undefined, class: "tab",
    }, label);
    this.problems = h("ul", { class: "plain-list problems", "aria-label": "Problems" });
    this.state = h("span", { class: "hint", role: "status" });
    this.lines = h("div", { class: "line-numbers", "aria-hidden": "true" });
    this.area = h("textarea", {
      spellcheck: "false", autocomplete: "off", wrap: "off", rows: 22,
      oninput: () => this.changed(), onscroll: () => { this.lines.scrollTop = this.area.scrollTop; },
      onkeydown: (event) => this.key(event),
    });
    const label = language === "tree" ? `Rules of the tree ${session.database}` : `Rules of the documents of ${session.project}`;
    this.area.id = "rules-text";
    this.denials = h("div", {});
    this.element = h("section", { class: "page" },
      h("h1", {}, "Rules"),
      h("nav", { class: "row", "aria-label": "Language" }, tab("tree", "Tree"), tab("documents", "Documents")),
      h("div", { class: "row" }, h("label", { for: "rules-text", class: "grow" }, label), this.state),
      h("div", { class: "code" }, this.lines, this.area), this.problems,
      h("div", { class: "row" },
        h("button", { type: "button", class: "primary", onclick: () => attempt(() => this.deploy()) }, "Deploy"),
        h("button", { type: "button", onclick: () => attempt(() => this.load()) }, "Read again"),
        h("span", { class: "hint" }, "Escape leaves the text; Tab indents.")),
      this.explanation(),
      h("h2", {}, "Latest denials"), this.denials);
    attempt(() => this.load());
    this.readDenials();
  }

  close() {
    clearTimeout(this.timer);
    clearTimeout(this.denialTimer);
  }

  get target() {
    return this.language === "tree"
      ? `/.settings/rules.json?${new URLSearchParams({ ns: session.database })}`
      : `/-/rules/documents?${new URLSearchParams({ database: this.documents })}`;
  }

  get documents() { return `projects/${session.project}/databases/${session.documentDatabase}`; }

  async load() {
    const response = await request("GET", this.target);
    this.area.value = await response.text();
    this.changed();
  }

  key(event) {
    if (event.key === "Escape") document.querySelector("nav a").focus();
    if (event.key !== "Tab" || event.shiftKey) return;
    event.preventDefault();
    this.area.setRangeText("  ", this.area.selectionStart, this.area.selectionEnd, "end");
    this.changed();
  }

  changed() {
    const count = this.area.value.split("\n").length;
    this.lines.textContent = Array.from({ length: count }, (_, index) => index + 1).join("\n");
    this.lines.scrollTop = this.area.scrollTop;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.check(), checkPauseMilliseconds);
  }

  async check() {
    const text = this.area.value;
    try {
      const answer = await json("POST", `/-/rules/check?language=${this.language}`, undefined, { body: text });
      if (text === this.area.value) this.show(answer);
    } catch (error) {
      this.state.textContent = error.message;
    }
  }

  show({ issues, rules }) {
    const errors = issues.filter((issue) => issue.severity === "error").length;
    this.isValid = errors === 0;
    this.state.className = errors ? "bad" : "good";
    this.state.textContent = errors
      ? `${errors} ${errors === 1 ? "mistake" : "mistakes"}` : `no mistakes, ${rules} ${rules === 1 ? "rule" : "rules"}`;
    replace(this.problems, issues.map((issue) => h("li", {},
      h("button", { type: "button", class: "link", onclick: () => this.goTo(issue) }, `${issue.line}:${issue.column}`),
      ` ${issue.severity === "warning" ? "warning: " : ""}${issue.rule ? `${issue.rule}: ` : ""}${issue.message}`)));
  }

  goTo({ line, column }) {
    const lines = this.area.value.split("\n");
    const before = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
    const inLine = [...(lines[line - 1] ?? "")].slice(0, column - 1).join("").length;
    this.area.focus();
    this.area.setSelectionRange(before + inLine, before + inLine + 1);
    this.area.scrollTop = Math.max(0, (line - 5) * 20);
  }

  async deploy() {
    await this.check();
    if (!this.isValid) return notice("The rules have mistakes.", true);
    const place = this.language === "tree" ? `the database ${session.database}` : this.documents;
    const isSure = await ask("Deploy the rules?",
      h("p", {}, `They are in force for ${place} at once; what they no longer allow is ended.`), { action: "Deploy" });
    if (!isSure) return undefined;
    await request("PUT", this.target, { body: this.area.value });
    announce("Deployed");
    return notice("The rules are in force.");
  }

  // MARK: Explaining

  explanation() {
    const isTree = this.language === "tree";
    const operation = select(isTree ? ["read", "write", "delete"] : ["get", "create", "update", "delete"]);
    const path = h("input", { value: isTree ? "/" : "", placeholder: isTree ? "/users/ann" : "cities/SF", spellcheck: "false", autocomplete: "off" });
    const user = h("input", { placeholder: "anonymous", spellcheck: "false", autocomplete: "off" });
    const claims = literalField("Claims", { placeholder: "{}" }, "auth.token, as JSON.");
    const value = literalField("Value", { placeholder: "null" }, isTree ? "For a write, as JSON." : "For a write, as plain JSON.");
    const source = select([["text", "the text above"], ["deployed", "the rules in force"]]);
    const output = h("pre", { class: "output", tabindex: "0", role: "status", "aria-label": "Explanation", hidden: true });
    const run = async () => {
      const auth = user.value
        ? { uid: user.value, provider: "custom", token: { ...claims.read(), sub: user.value } } : null;
      const body = {
        language: this.language, database: isTree ? session.database : this.documents,
        operation: operation.value, path: path.value, auth,
      };
      const read = value.read();
      if (read !== undefined) body.value = read;
      if (source.value === "text") body.rules = this.area.value;
      const answer = await json("POST", "/-/rules/explain", body);
      output.hidden = false;
      output.className = `output ${answer.allowed ? "good" : "bad"}`;
      output.textContent = answer.text;
      announce(answer.allowed ? "allowed" : "denied");
    };
    return h("details", { class: "box" }, h("summary", {}, "Explain a decision"),
      h("form", {
        onsubmit: (event) => {
          event.preventDefault();
          attempt(run);
        },
      }, h("div", { class: "row wrap" },
        field("Operation", operation), field("Path", path), field("User", user), claims.element, value.element,
        field("By", source), h("button", { type: "submit", class: "primary" }, "Explain"))),
      output);
  }

  // MARK: Denials

  async readDenials() {
    try {
      const status = await json("GET", "/-/status?connections=1");
      const denials = [...(status.denials ?? [])].reverse();
      const wanted = this.wanted?.value ?? "";
      this.wanted ??= h("input", { placeholder: "id", spellcheck: "false", oninput: () => this.filterDenials() });
      this.latest = denials;
      if (!this.denialList) {
        this.denialList = h("div", {});
        replace(this.denials, field("Find", this.wanted, "The id that a client was told."), this.denialList);
      }
      this.wanted.value = wanted;
      this.filterDenials();
    } catch (error) {
      replace(this.denials, h("p", { class: "hint" },
        error.status === 404 ? "This server keeps no list of denials; its log has them by their ids." : error.message));
      if (error.status === 404) return;
    }
    this.denialTimer = setTimeout(() => this.readDenials(), denialPauseMilliseconds);
  }

  filterDenials() {
    const wanted = this.wanted.value.trim().replace(/[[\]]/g, "");
    const shown = this.latest.filter((denial) => !wanted || denial.id?.includes(wanted) || denial.text?.includes(wanted));
    replace(this.denialList, shown.length
      ? h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Denials" },
        h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "Time"), h("th", {}, "Id"), h("th", {}, "Denied"))),
          h("tbody", {}, shown.map((denial) => h("tr", {},
            h("td", { class: "nowrap" }, new Date(denial.time).toLocaleTimeString("en-GB")),
            h("td", {}, h("code", {}, denial.id ?? "")), h("td", {}, denial.text ?? ""))))))
      : h("p", { class: "hint" }, wanted ? "No such denial." : "Nothing was denied lately."));
  }
}

"""#,
    "socket.js": #"""
// A client of the tree's protocol over WebSocket: listens that survive a lost connection.
import { RequestError, session } from "./api.js";
import { encode, isBranch, parse } from "./json.js";

const aliveMilliseconds = 45_000;
const slowestMilliseconds = 15_000;

export class TreeSocket {
  constructor(database, onState) {
    this.database = database;
    this.onState = onState;
    this.listens = new Map();
    this.waiting = new Map();
    this.number = 0;
    this.pause = 250;
    this.isClosed = false;
    this.isReady = false;
    this.connect();
  }

  connect() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const query = new URLSearchParams({ v: "5", ns: this.database });
    const socket = new WebSocket(`${scheme}://${location.host}/.ws?${query}`);
    this.socket = socket;
    this.parts = [];
    this.partsLeft = 0;
    socket.addEventListener("message", (event) => this.receive(event.data));
    socket.addEventListener("close", () => this.lose(socket));
    socket.addEventListener("open", () => {
      this.alive = setInterval(() => socket.send("0"), aliveMilliseconds);
    });
  }

  lose(socket) {
    if (socket !== this.socket) return;
    clearInterval(this.alive);
    this.isReady = false;
    for (const waiting of this.waiting.values()) {
      waiting.reject(new RequestError(0, "The connection was lost."));
    }
    this.waiting.clear();
    if (this.isClosed) return;
    this.onState("offline");
    this.timer = setTimeout(() => this.connect(), this.pause);
    this.pause = Math.min(this.pause * 2, slowestMilliseconds);
  }

  close() {
    this.isClosed = true;
    clearTimeout(this.timer);
    clearInterval(this.alive);
    this.socket.close();
  }

  receive(text) {
    if (this.partsLeft) {
      this.parts.push(text);
      this.partsLeft -= 1;
      if (this.partsLeft) return;
      const whole = this.parts.join("");
      this.parts = [];
      return this.handle(parse(whole));
    }
    if (/^\d{1,6}$/.test(text)) {
      this.partsLeft = Number(text);
      return;
    }
    this.handle(parse(text));
  }

  handle(message) {
    if (message.t === "c") {
      if (message.d.t === "h") this.greet();
      return;
    }
    const data = message.d;
    if (data.r !== undefined) {
      const waiting = this.waiting.get(data.r);
      this.waiting.delete(data.r);
      if (!waiting) return;
      if (data.b.s === "ok") waiting.resolve(data.b.d);
      else waiting.reject(new RequestError(0, sentence(data.b)));
      return;
    }
    if (data.a === "d" || data.a === "m") this.push(data.a, data.b);
    if (data.a === "c") this.cancel(data.b);
  }

  async greet() {
    this.pause = 250;
    try {
      await this.ask("gauth", { cred: session.credential });
    } catch (error) {
      this.onState("denied");
      return;
    }
    this.isReady = true;
    this.onState("online");
    for (const listen of this.listens.values()) this.start(listen);
  }

  ask(action, body) {
    this.number += 1;
    const number = this.number;
    this.socket.send(encode({ t: "d", d: { r: number, a: action, b: body } }));
    return new Promise((resolve, reject) => this.waiting.set(number, { resolve, reject }));
  }

  /**
   * Listens at a path; `query` has the members of the protocol.
   *
   * @returns a function that ends it
   */
  listen(path, query, onValue, onError = () => {}) {
    const tag = query ? (this.lastTag = (this.lastTag ?? 0) + 1) : undefined;
    const text = path.join("/");
    const key = tag === undefined ? `/${text}` : `#${tag}`;
    const listen = { key, text, tag, query, onValue, onError, value: null };
    this.listens.set(key, listen);
    if (this.isReady) this.start(listen);
    return () => {
      if (this.listens.get(key) !== listen) return;
      this.listens.delete(key);
      if (this.isReady) this.ask("n", body(listen)).catch(() => {});
    };
  }

  start(listen) {
    this.ask("q", { ...body(listen), h: "" }).catch((error) => listen.onError(error));
  }

  push(action, { p: text, d: data, t: tag }) {
    for (const listen of this.listens.values()) {
      if (tag !== undefined ? listen.tag !== tag : listen.tag !== undefined) continue;
      const base = listen.text ? listen.text.split("/") : [];
      const path = text ? text.split("/").filter(Boolean) : [];
      if (tag === undefined && !base.every((key, index) => path[index] === key)) continue;
      const rest = path.slice(base.length);
      if (action === "d") {
        listen.value = changed(listen.value, rest, data);
      } else {
        for (const [below, value] of Object.entries(data)) {
          listen.value = changed(listen.value, [...rest, ...below.split("/").filter(Boolean)], value);
        }
      }
      listen.onValue(listen.value);
    }
  }

  cancel({ p: text, d: reason, q: query }) {
    for (const listen of [...this.listens.values()]) {
      if (listen.text !== text.replace(/^\//, "") || Boolean(query) !== (listen.tag !== undefined)) continue;
      this.listens.delete(listen.key);
      listen.onError(new RequestError(0, reason ?? "The listen was ended."));
    }
  }
}

function body(listen) {
  const body = { p: `/${listen.text}` };
  return listen.query ? { ...body, q: listen.query, t: listen.tag } : body;
}

function sentence(answer) {
  return typeof answer.d === "string" && answer.d ? answer.d : answer.s;
}

/** A value in which another one stands at a path; `null` removes. */
function changed(value, path, next) {
  if (!path.length) return next;
  const copy = isBranch(value) ? { ...value } : {};
  const before = Object.hasOwn(copy, path[0]) ? copy[path[0]] : null;
  const inner = changed(before, path.slice(1), next);
  if (inner === null) delete copy[path[0]];
  else Object.defineProperty(copy, path[0], { value: inner, enumerable: true, configurable: true, writable: true });
  return Object.keys(copy).length ? copy : null;
}

"""#,
    "tokens.js": #"""
// Tokens: a look inside of one, and the list of those that count no longer.
import { json } from "./api.js";
import { announce, attempt, field, h, replace } from "./dom.js";
import { encode } from "./json.js";
import { table } from "./overview.js";

export function tokensPage() {
  const text = h("textarea", { rows: 4, spellcheck: "false", autocomplete: "off" });
  const inside = h("div", {});
  text.addEventListener("input", () => inspect(text.value, inside));
  const list = h("div", {});
  const user = h("input", { placeholder: "user id, or * for all", spellcheck: "false", autocomplete: "off" });
  const change = async (name, moment) => {
    if (!name) throw new Error("Name a user.");
    await json("PATCH", "/.settings/revocations.json", { [name]: moment });
    announce(moment === null ? "Taken back" : "Revoked");
    await show();
  };
  const show = async () => {
    const revocations = Object.entries(await json("GET", "/.settings/revocations.json"));
    replace(list, table("Revoked tokens", ["User", "Tokens issued before", "Action"], revocations.map(([name, moment]) => [
      name, new Date(Number(moment) * 1_000).toISOString(),
      h("button", {
        type: "button", class: "small", "aria-label": `Take back the revocation of ${name}`,
        onclick: () => attempt(() => change(name, null)),
      }, "Take back"),
    ])));
  };
  attempt(show);
  const element = h("section", { class: "page" }, h("h1", {}, "Tokens"),
    h("h2", {}, "Inspect"), field("Token", text, "It is read in this page and sent nowhere."), inside,
    h("h2", {}, "Revoked"),
    h("form", {
      class: "row wrap",
      onsubmit: (event) => {
        event.preventDefault();
        attempt(() => change(user.value.trim(), "now"));
      },
    }, field("User", user), h("button", { type: "submit", class: "danger" }, "Revoke all tokens issued until now")),
    list,
    h("h2", {}, "Sign"),
    h("p", {}, "A server knows keys to check tokens with and signs none. On a machine that has the secret:"),
    h("pre", { class: "output" }, "tern auth sign ann --key secret.key --expires 30d"));
  return { element, close() {} };
}

function inspect(text, place) {
  const token = text.trim();
  if (!token) return replace(place);
  const [head, body, signature] = token.split(".");
  try {
    if (signature === undefined) throw new Error("it does not have three parts");
    const claims = part(body);
    const times = ["iat", "nbf", "exp", "auth_time"].filter((name) => typeof claims[name] === "number")
      .map((name) => `${name}: ${new Date(claims[name] * 1_000).toISOString()}`);
    const hasEnded = typeof claims.exp === "number" && claims.exp * 1_000 < Date.now();
    return replace(place,
      h("p", { class: hasEnded ? "bad" : "good" }, hasEnded ? "It has expired." : signature ? "It has not expired; the signature is checked by the server alone." : "It is not signed."),
      h("p", { class: "hint" }, times.join(", ")),
      h("pre", { class: "output" }, `${encode(part(head), 2)}\n${encode(claims, 2)}`));
  } catch (error) {
    return replace(place, h("p", { class: "bad" }, `This is no token: ${error.message}`));
  }
}

function part(text) {
  const bytes = Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (one) => one.charCodeAt(0));
  return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
}

"""#,
    "tree.js": #"""
// The tree browser.
import {
  content, databases, json, keyObjection, replaceContent, request, session, treeTarget,
} from "./api.js";
import { announce, ask, attempt, chooseFile, field, h, notice, replace, save } from "./dom.js";
import { encode, isBranch } from "./json.js";
import { QueryBar } from "./query.js";
import { TreeModel } from "./treemodel.js";
import { readValue, valueEditor } from "./value.js";
import { VirtualList } from "./virtual.js";

const flashMilliseconds = 1_500;
const doubleClickMilliseconds = 500;

export function treePage(context, parameters) {
  return new TreePage(context, (parameters.get("path") ?? "").split("/").filter(Boolean));
}

/** A value with the priority of the one whose place it takes. */
function withPriority(value, priority) {
  if (priority === undefined || value === null) return value;
  return isBranch(value)
    ? { ".priority": priority, ...value } : { ".value": value, ".priority": priority };
}

class TreePage {
  constructor(context, base) {
    this.context = context;
    this.socket = context.socket();
    this.base = base;
    this.index = 0;
    this.list = new VirtualList({
      attributes: { role: "tree", "aria-label": "Tree", id: "tree" },
      render: (index) => this.row(index),
      onRange: (first, last) => this.model.show(first, last),
    });
    this.list.element.addEventListener("keydown", (event) => this.key(event));
    this.path = h("input", {
      value: `/${base.join("/")}`, spellcheck: "false", autocomplete: "off", "aria-label": "Path",
    });
    this.query = new QueryBar(this.socket, () => this.base, (path) => this.go(path));
    this.actions = h("div", { class: "row", role: "toolbar", "aria-label": "Selected node" });
    this.element = h("section", { class: "page fill" },
      h("h1", { class: "hidden-text" }, "Tree"),
      h("form", { class: "row", onsubmit: (event) => this.submit(event) },
        this.databaseChooser(), h("span", { class: "grow" }, this.path),
        h("button", { type: "submit" }, "Go")),
      this.query.element, this.actions, this.list.element,
      h("p", { class: "hint" }, "Arrow keys move, Enter edits, Insert adds, Delete removes."));
    this.begin();
  }

  begin() {
    this.model?.close();
    this.model = new TreeModel(this.base, this.socket, () => this.draw());
    this.draw();
    this.drawActions();
  }

  close() {
    this.model.close();
    this.query.close();
    this.list.close();
  }

  databaseChooser() {
    const names = h("datalist", { id: "databases" });
    const input = h("input", {
      value: session.database, list: "databases", "aria-label": "Database", class: "short",
      // Behind the submission that Enter begins at once.
      onchange: () => setTimeout(() => this.context.chooseDatabase(input.value.trim() || "default")),
    });
    databases().then(
      (all) => replace(names, all.map((name) => h("option", { value: name }))), () => {});
    return h("span", {}, input, names);
  }

  submit(event) {
    event.preventDefault();
    this.go(this.path.value.split("/").filter(Boolean));
  }

  go(path) {
    location.hash = `#/tree?path=${encodeURIComponent(path.join("/"))}`;
  }

  draw() {
    if (!this.model) return;
    this.index = Math.min(this.index, this.model.rows.length - 1);
    this.list.setCount(this.model.rows.length);
    this.drawActions();
  }

  get selected() { return this.model.rows[this.index]?.node; }

  // MARK: Rows

  row(index) {
    const row = this.model.rows[index];
    const indent = `${(row.node?.depth ?? row.depth) * 18 + 6}px`;
    if (row.more) {
      const element = h("div", { class: "tree-row hint", role: "presentation" }, "reading more …");
      element.style.paddingLeft = indent;
      return element;
    }
    const { node } = row;
    const isBranchNode = node.kind === "branch";
    const id = `row-${index}`;
    const isSelected = index === this.index;
    if (isSelected) this.list.element.setAttribute("aria-activedescendant", id);
    const isNew = node.changedAt && performance.now() - node.changedAt < flashMilliseconds;
    if (isNew) {
      clearTimeout(this.fading);
      this.fading = setTimeout(() => this.list.schedule(), flashMilliseconds);
    }
    const element = h("div", {
      id, role: "treeitem", class: `tree-row${isSelected ? " selected" : ""}${isNew ? " changed" : ""}`,
      "aria-level": node.depth + 1, "aria-setsize": row.size, "aria-posinset": row.position,
      "aria-selected": String(isSelected), "aria-expanded": isBranchNode ? String(node.isOpen) : undefined,
      onclick: (event) => this.click(index, node, event.detail),
    },
    h("span", {
      class: "twist", "aria-hidden": "true",
      onclick: (event) => {
        event.stopPropagation();
        this.index = index;
        this.toggle(node);
      },
    }, isBranchNode ? (node.isOpen ? "▾" : "▸") : ""),
    h("span", { class: "key" }, node.parent ? node.key : `/${this.base.join("/")}`),
    this.content(node));
    element.style.paddingLeft = indent;
    return element;
  }

  content(node) {
    if (node.problem) return h("span", { class: "bad" }, ` ${node.problem}`);
    switch (node.kind) {
    case "leaf": return [": ", h("span", { class: `value ${typeof node.value}` }, encode(node.value).slice(0, 2_000))];
    case "missing": return h("span", { class: "hint" }, ": null");
    case "branch": return node.isOpen && node.readAt
      ? h("span", { class: "hint" }, ` ${node.children.length.toLocaleString("en")}${node.isComplete ? "" : "+"}`) : null;
    default: return h("span", { class: "hint" }, " …");
    }
  }

  /** A second click soon after the first opens or edits; rows are made anew meanwhile. */
  click(index, node, count) {
    const now = performance.now();
    const isSecond = this.lastClick?.node === node
      && (count === 2 || now - this.lastClick.at < doubleClickMilliseconds);
    this.lastClick = isSecond ? undefined : { node, at: now };
    this.choose(index);
    if (!isSecond) return;
    if (node.kind === "leaf" || node.kind === "missing") attempt(() => this.edit(node));
    else this.toggle(node);
  }

  choose(index) {
    this.index = index;
    this.list.element.focus({ preventScroll: true });
    this.list.schedule();
    this.drawActions();
  }

  toggle(node) {
    if (node.isOpen) this.model.close_(node);
    else this.model.open(node);
    this.list.schedule();
  }

  drawActions() {
    const node = this.selected;
    if (!node) return;
    const key = `${node.path.join("/")} ${node.kind}`;
    if (this.actionsOf === key) return;
    this.actionsOf = key;
    const button = (label, action, attributes = {}) =>
      h("button", { type: "button", onclick: () => attempt(action), ...attributes }, label);
    replace(this.actions,
      h("code", { class: "grow ellipsis" }, `/${node.path.join("/")}`),
      node.kind === "branch" ? button("Open here", () => this.go(node.path)) : null,
      button("Add", () => this.add(node)),
      button(node.kind === "branch" ? "Edit as JSON" : "Edit", () => this.edit(node)),
      button("Import", () => this.importFile(node)), button("Export", () => this.exportFile(node)),
      button("Remove", () => this.remove(node), { class: "danger" }));
  }

  // MARK: Keys

  key(event) {
    if (event.target !== this.list.element || event.ctrlKey || event.metaKey || event.altKey) return;
    const node = this.selected;
    const rows = this.model.rows.length;
    const page = Math.max(1, Math.floor(this.list.element.clientHeight / this.list.rowHeight) - 1);
    const actions = {
      ArrowDown: () => this.move(this.index + 1),
      ArrowUp: () => this.move(this.index - 1),
      PageDown: () => this.move(this.index + page),
      PageUp: () => this.move(this.index - page),
      Home: () => this.move(0),
      End: () => this.move(rows - 1),
      ArrowRight: () => (node?.isOpen ? this.move(this.index + 1) : node && this.model.open(node)),
      ArrowLeft: () => {
        if (node?.isOpen) this.model.close_(node);
        else if (node?.parent) this.move(this.model.rows.findIndex((row) => row.node === node.parent));
      },
      Enter: () => node && attempt(() => this.edit(node)),
      F2: () => node && attempt(() => this.edit(node)),
      Insert: () => node && attempt(() => this.add(node)),
      Delete: () => node && attempt(() => this.remove(node)),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }

  move(index) {
    this.index = Math.max(0, Math.min(this.model.rows.length - 1, index));
    this.list.reveal(this.index);
    this.drawActions();
  }

  // MARK: Changes

  async edit(node) {
    // Nothing may be edited that was not read: saving would lose it.
    if (node.kind === "unknown") await this.model.look(node);
    if (node.kind === "unknown") throw new Error(node.problem ?? "The value is not known.");
    const read = await content(node.path);
    const isLeaf = !isBranch(read.value) || ".value" in read.value;
    if (!isLeaf) return this.editJSON(node, read);
    const index = this.model.rows.findIndex((row) => row.node === node);
    const row = document.getElementById(`row-${index}`);
    if (!row) return this.editJSON(node, read);
    this.editInPlace(node, row, read);
  }

  editInPlace(node, row, { value, tag }) {
    const editor = valueEditor((isBranch(value) ? value[".value"] : value) ?? "");
    const form = h("form", { class: "in-place", "aria-label": `Value of ${node.key}` }, editor.element,
      h("button", { type: "submit", class: "primary" }, "Save"),
      h("button", { type: "button", onclick: () => end() }, "Cancel"));
    const place = row.getBoundingClientRect();
    const frame = this.list.element.getBoundingClientRect();
    form.style.top = `${place.top - frame.top + this.list.element.scrollTop - 4}px`;
    const end = () => {
      form.remove();
      this.list.element.focus({ preventScroll: true });
    };
    form.addEventListener("keydown", (event) => {
      if (event.key === "Escape") end();
      event.stopPropagation();
    });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      attempt(async () => {
        const changed = withPriority(editor.read(), value?.[".priority"]);
        await this.save(node, changed, tag, end);
        announce(`${node.key} saved`);
      });
    });
    this.list.element.append(form);
    editor.focus();
  }

  /** Saves what was edited, and shows what is there then; `end` closes the editor. */
  async save(node, value, tag, end = () => {}) {
    try {
      await replaceContent(node.path, value, tag);
    } catch (error) {
      if (error.status !== 412) throw error;
      end();
      this.refresh(node);
      throw error;
    }
    end();
    this.refresh(node);
  }

  async editJSON(node, { value, tag }) {
    const area = h("textarea", { rows: 16, spellcheck: "false", value: encode(value, 2) });
    const changed = await ask(`/${node.path.join("/")}`, field("Value as JSON", area),
      { action: "Save", read: () => ({ value: readValue(area.value) }) });
    if (!changed) return;
    await this.save(node, changed.value, tag);
    announce("Saved");
  }

  async add(node) {
    const key = h("input", { autocomplete: "off", spellcheck: "false", placeholder: "a new key" });
    const editor = valueEditor("");
    const added = await ask(`Add below /${node.path.join("/")}`,
      [field("Key", key, "Empty for a key that sorts behind all earlier ones."), editor.element], {
        action: "Add",
        read: () => {
          const name = key.value;
          const objection = name && keyObjection(name);
          if (objection) throw new Error(objection);
          return { name, value: editor.read() };
        },
      });
    if (!added) return;
    if (added.name) await json("PUT", treeTarget([...node.path, added.name]), added.value);
    else await json("POST", treeTarget(node.path), added.value);
    announce("Added");
    this.refresh(node, true);
  }

  async remove(node) {
    const path = `/${node.path.join("/")}`;
    const isSure = await ask(`Remove ${path}?`,
      h("p", {}, node.kind === "branch" ? "Everything below it is removed, too." : "The value is removed."),
      { action: "Remove", danger: true });
    if (!isSure) return;
    await request("DELETE", treeTarget(node.path, { print: "silent" }));
    announce(`${path} removed`);
    this.refresh(node.parent ?? node, true);
  }

  async importFile(node) {
    const file = await chooseFile(".json,application/json");
    if (!file) return;
    const path = `/${node.path.join("/")}`;
    const isSure = await ask(`Import ${file.name} at ${path}?`,
      h("p", {}, `${file.size.toLocaleString("en")} bytes take the place of what is there.`),
      { action: "Import", danger: true });
    if (!isSure) return;
    await request("PUT", treeTarget(node.path, { print: "silent" }), { body: file });
    notice(`${file.name} was imported.`);
    this.refresh(node, true);
  }

  async exportFile(node) {
    const response = await request("GET", treeTarget(node.path, { format: "export" }));
    save(await response.blob(), `${session.database}${node.path.map((key) => `-${key}`).join("")}.json`);
    announce("Exported");
  }

  /** Shows what the console itself changed without waiting for the next reading. */
  async refresh(node, opens = false) {
    if (node.kind === "branch" && node.isOpen) await this.model.read(node);
    else await this.model.look(node);
    if (opens && node.kind === "branch" && !node.isOpen) await this.model.open(node);
    if (node.parent?.isOpen) await this.model.read(node.parent);
    if (isBranch(node.value) || node.kind === "branch") this.actionsOf = undefined;
    this.draw();
  }
}

"""#,
    "treemodel.js": #"""
// The nodes of a tree that were opened, as rows of a list. Children are read by their names only, a
// page at a time; a leaf on the screen is listened to.
import { shallow } from "./api.js";
import { compareKeys, isBranch } from "./json.js";

export const pageSize = 10_000;
const shortestMilliseconds = 2_000;
const longestMilliseconds = 60_000;
const namesPerMillisecond = 0.5;

export class TreeNode {
  constructor(key, parent) {
    this.key = key;
    this.parent = parent;
    this.depth = parent ? parent.depth + 1 : 0;
    this.kind = "unknown";
    this.value = undefined;
    this.isOpen = false;
    this.children = [];
    this.byKey = new Map();
    this.isComplete = true;
    this.problem = undefined;
    this.unlisten = undefined;
    this.changedAt = 0;
    this.readAt = 0;
  }

  get path() {
    return this.parent ? [...this.parent.path, this.key] : this.base ?? [];
  }
}

export class TreeModel {
  constructor(base, socket, onChange) {
    this.socket = socket;
    this.onChange = onChange;
    this.root = new TreeNode(base.at(-1) ?? "", undefined);
    this.root.base = base;
    this.rows = [];
    this.visible = [];
    this.aborter = new AbortController();
    this.flatten();
  }

  close() {
    this.aborter.abort();
    clearTimeout(this.timer);
    const end = (node) => {
      this.release(node);
      node.children.forEach(end);
    };
    end(this.root);
  }

  flatten() {
    const rows = [];
    const add = (node, position, size) => {
      rows.push({ node, position, size });
      if (!node.isOpen) return;
      const count = node.children.length;
      for (let index = 0; index < count; index += 1) add(node.children[index], index + 1, count);
      if (!node.isComplete) rows.push({ more: node, depth: node.depth + 1 });
    };
    add(this.root, 1, 1);
    this.rows = rows;
    this.onChange();
  }

  /** Reads what is missing of the rows on the screen, and listens to the leaves among them. */
  show(first, last) {
    this.visible = this.rows.slice(first, last);
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.settle(), 60);
  }

  settle() {
    const seen = new Set(this.visible.map((row) => row.node));
    for (const node of this.listened ?? []) if (!seen.has(node)) this.release(node);
    this.listened = new Set();
    for (const row of this.visible) {
      if (row.more) this.readMore(row.more);
      else if (row.node.kind === "unknown") this.look(row.node);
      else if (row.node.kind === "leaf" || row.node.kind === "missing") this.watch(row.node);
      if (row.node?.unlisten) this.listened.add(row.node);
    }
    this.poll();
  }

  /** Tells a leaf from a branch. */
  look(node) {
    node.looking ??= this.lookNow(node);
    return node.looking;
  }

  async lookNow(node) {
    try {
      const found = await shallow(node.path, { limit: 1, signal: this.aborter.signal });
      node.problem = undefined;
      this.classify(node, found);
      if (node === this.root && node.kind === "branch" && !node.isOpen) this.open(node);
    } catch (error) {
      if (error.name === "AbortError") return;
      node.kind = "unknown";
      node.problem = error.message;
    } finally {
      node.looking = undefined;
      this.onChange();
    }
  }

  classify(node, found) {
    if (isBranch(found)) {
      this.release(node);
      node.kind = "branch";
    } else {
      node.kind = found === null ? "missing" : "leaf";
      node.value = found;
      node.isOpen = false;
      this.watch(node);
    }
  }

  watch(node) {
    if (node.unlisten) return;
    (this.listened ??= new Set()).add(node);
    node.unlisten = this.socket.listen(node.path, undefined, (found) => {
      // A leaf with a priority comes as an object.
      const value = isBranch(found) && ".value" in found ? found[".value"] : found;
      if (isBranch(value)) {
        this.classify(node, value);
        node.changedAt = performance.now();
        if (node === this.root) this.open(node);
        return this.onChange();
      }
      const isNew = node.value !== undefined && node.value !== value;
      const kind = value === null ? "missing" : "leaf";
      node.value = value;
      if (isNew || kind !== node.kind) node.changedAt = performance.now();
      const isGone = kind === "missing" && node.kind !== "missing";
      node.kind = kind;
      if (isGone && node.parent) this.read(node.parent);
      this.onChange();
    }, (error) => {
      node.unlisten = undefined;
      node.problem = error.message;
      this.onChange();
    });
  }

  release(node) {
    node.unlisten?.();
    node.unlisten = undefined;
  }

  async open(node) {
    if (node.kind === "unknown") await this.look(node);
    if (node.kind !== "branch" || node.isOpen) return;
    node.isOpen = true;
    await this.read(node);
  }

  close_(node) {
    node.isOpen = false;
    this.flatten();
  }

  /** Reads the names of a node's children again, as many pages as are known. */
  async read(node) {
    if (node.isReading) return;
    node.isReading = true;
    const wanted = Math.max(pageSize, node.children.length);
    const names = [];
    try {
      let after;
      let isComplete = false;
      while (names.length < wanted && !isComplete) {
        const found = await shallow(
          node.path, { after, limit: pageSize, signal: this.aborter.signal });
        if (!isBranch(found)) {
          if (names.length === 0) this.becomeLeaf(node, found);
          isComplete = true;
          break;
        }
        const page = Object.keys(found).sort(compareKeys);
        names.push(...page);
        after = page.at(-1);
        isComplete = page.length < pageSize;
      }
      node.isComplete = isComplete;
      node.problem = undefined;
      this.adopt(node, names);
    } catch (error) {
      if (error.name === "AbortError") return;
      node.problem = error.message;
      node.readAt = performance.now();
    } finally {
      node.isReading = false;
    }
    this.flatten();
  }

  becomeLeaf(node, value) {
    node.isComplete = true;
    node.children.forEach((child) => this.release(child));
    node.children = [];
    node.byKey.clear();
    this.classify(node, value);
  }

  adopt(node, names, marksNew = node.readAt > 0) {
    const known = node.byKey;
    node.byKey = new Map();
    node.children = names.map((name) => {
      const child = known.get(name) ?? new TreeNode(name, node);
      if (!known.has(name) && marksNew) child.changedAt = performance.now();
      if (child.kind === "missing") child.kind = "unknown";
      node.byKey.set(name, child);
      return child;
    });
    for (const [name, child] of known) if (!node.byKey.has(name)) this.release(child);
    node.readAt = performance.now();
  }

  /** Reads the next page of names. */
  async readMore(node) {
    if (node.isReading || node.isComplete) return;
    node.isReading = true;
    try {
      const after = node.children.at(-1)?.key;
      const found = await shallow(
        node.path, { after, limit: pageSize, signal: this.aborter.signal });
      const page = isBranch(found) ? Object.keys(found).sort(compareKeys) : [];
      node.isComplete = page.length < pageSize;
      this.adopt(node, [...node.children.map((child) => child.key), ...page], false);
    } catch (error) {
      if (error.name === "AbortError") return;
      node.problem = error.message;
    } finally {
      node.isReading = false;
    }
    this.flatten();
  }

  /** Reads the names of opened nodes on the screen again, the rarer the more there are. */
  poll() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (document.visibilityState === "visible") {
        const parents = new Set();
        for (const row of this.visible) {
          const node = row.node;
          if (!node) continue;
          if (node.isOpen) parents.add(node);
          if (node.parent) parents.add(node.parent);
          if (node.problem) node.kind = node.kind === "unknown" ? "unknown" : node.kind;
        }
        const now = performance.now();
        for (const node of parents) {
          if (node.isOpen && now - node.readAt >= this.interval(node)) this.read(node);
        }
      }
      this.poll();
    }, shortestMilliseconds / 2);
  }

  interval(node) {
    const wanted = node.children.length / namesPerMillisecond;
    return Math.min(longestMilliseconds, Math.max(shortestMilliseconds, wanted));
  }
}

"""#,
    "value.js": #"""
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

"""#,
    "virtual.js": #"""
// A list of any length: only the rows on the screen are in the document.
import { h } from "./dom.js";

const spare = 8;
// Browsers cannot lay out elements that are taller than this.
const tallest = 16_000_000;

export class VirtualList {
  /**
   * @param render makes the element of the row at an index
   * @param onRange is told the first and last index on the screen
   */
  constructor({ rowHeight = 30, attributes = {}, render, onRange = () => {} }) {
    this.rowHeight = rowHeight;
    this.render = render;
    this.onRange = onRange;
    this.count = 0;
    this.canvas = h("div", { class: "canvas", role: "presentation" });
    this.element = h("div", { class: "virtual", tabindex: "0", ...attributes }, this.canvas);
    this.element.addEventListener("scroll", () => this.schedule(), { passive: true });
    // A row that is replaced while it is pressed would lose its click.
    this.element.addEventListener("pointerdown", (event) => { this.isPressed = event.target !== this.element; });
    this.release = () => setTimeout(() => {
      this.isPressed = false;
      if (this.isLate) this.schedule();
    });
    for (const name of ["pointerup", "pointercancel"]) window.addEventListener(name, this.release);
    this.observer = new ResizeObserver(() => this.schedule());
    this.observer.observe(this.element);
  }

  get height() { return Math.min(this.count * this.rowHeight, tallest); }

  // Beyond the tallest canvas, places are scaled.
  get scale() { return this.count ? this.height / (this.count * this.rowHeight) : 1; }

  setCount(count) {
    this.count = count;
    this.canvas.style.height = `${this.height}px`;
    this.schedule();
  }

  schedule() {
    if (this.isScheduled) return;
    this.isScheduled = true;
    requestAnimationFrame(() => {
      this.isScheduled = false;
      this.draw();
    });
  }

  range() {
    const top = this.element.scrollTop / this.scale;
    const first = Math.max(0, Math.floor(top / this.rowHeight));
    const last = Math.min(this.count, Math.ceil((top + this.element.clientHeight) / this.rowHeight));
    return [first, last];
  }

  draw() {
    this.isLate = this.isPressed;
    if (this.isLate) return;
    const [first, last] = this.range();
    const from = Math.max(0, first - spare);
    const to = Math.min(this.count, last + spare);
    const offset = this.element.scrollTop - (this.element.scrollTop / this.scale);
    const rows = [];
    for (let index = from; index < to; index += 1) {
      const row = this.render(index);
      row.style.top = `${index * this.rowHeight + (this.scale < 1 ? offset : 0)}px`;
      row.style.height = `${this.rowHeight}px`;
      rows.push(row);
    }
    this.canvas.replaceChildren(...rows);
    this.onRange(first, last);
  }

  /** Brings a row onto the screen. */
  reveal(index) {
    const top = index * this.rowHeight * this.scale;
    const view = this.element;
    if (top < view.scrollTop) view.scrollTop = top;
    const bottom = top + this.rowHeight;
    if (bottom > view.scrollTop + view.clientHeight) view.scrollTop = bottom - view.clientHeight;
    this.schedule();
  }

  close() {
    this.observer.disconnect();
    for (const name of ["pointerup", "pointercancel"]) window.removeEventListener(name, this.release);
  }
}

"""#,
    "watch.js": #"""
// A listen to a query of documents over WebChannel, the protocol of Firestore's clients in browsers.
import { documentsRoot, RequestError, send, session } from "./api.js";
import { encode, parse } from "./json.js";

const shortestPauseMilliseconds = 1_000;
const longestPauseMilliseconds = 30_000;
const path = "/google.firestore.v1.Firestore/Listen/channel";
const form = { "Content-Type": "application/x-www-form-urlencoded" };

/** Tells when the result of a query changes, over long polls, which any proxy lets through. */
export class DocumentWatch {
  /**
   * @param target the parent's name and the structured query
   * @param onChange called when the listen begins, and after each change
   * @param onState called with `true` once changes are told, with `false` when they are not
   */
  constructor(target, { onChange, onState }) {
    this.target = target;
    this.onChange = onChange;
    this.onState = onState;
    this.database = documentsRoot().replace(/\/documents$/, "");
    this.isClosed = false;
    this.abort = new AbortController();
    this.run();
  }

  close() {
    this.isClosed = true;
    this.abort.abort();
    clearTimeout(this.timer);
    this.leave();
  }

  async run() {
    let pause = shortestPauseMilliseconds;
    while (!this.isClosed) {
      try {
        await this.open();
        while (!this.isClosed) {
          await this.poll();
          pause = shortestPauseMilliseconds;
        }
      } catch { /* The session is opened again. */ }
      if (this.isClosed) return;
      this.leave();
      this.onState(false);
      await new Promise((done) => { this.timer = setTimeout(done, pause); });
      pause = Math.min(pause * 2, longestPauseMilliseconds);
    }
  }

  url(parameters) {
    const zx = Math.random().toString(36).slice(2);
    return `${path}?${new URLSearchParams({ VER: "8", database: this.database, ...parameters, zx, t: "1" })}`;
  }

  async exchange(method, parameters, body) {
    const { signal } = this.abort;
    const response = await send(method, this.url(parameters), { body, signal, headers: body ? form : {} });
    const text = await response.text();
    if (!response.ok) throw new RequestError(response.status, text.slice(0, 500));
    return { response, text };
  }

  async open() {
    this.names = undefined;
    this.lastID = 0;
    this.isCurrent = false;
    this.isChanged = true;
    const message = { database: this.database, addTarget: { query: this.target, targetId: 1 } };
    const body = new URLSearchParams({
      headers: `Authorization:Bearer ${session.credential}\r\n`,
      count: "1", ofs: "0", req0___data__: encode(message),
    });
    const parameters = { RID: "1", CVER: "22", "X-HTTP-Session-Id": "gsessionid" };
    const { response, text } = await this.exchange("POST", parameters, body.toString());
    const [[, [, id]]] = chunks(text)[0];
    this.names = { gsessionid: response.headers.get("x-http-session-id") ?? "", SID: id };
    // It was closed meanwhile.
    if (this.isClosed) this.leave();
  }

  async poll() {
    const parameters = { ...this.names, RID: "rpc", AID: String(this.lastID), CI: "1", TYPE: "xmlhttp" };
    const { text } = await this.exchange("GET", parameters);
    for (const arrays of chunks(text)) {
      for (const [id, messages] of arrays) {
        if (id <= this.lastID) continue;
        this.lastID = id;
        for (const message of messages) this.handle(message);
      }
    }
  }

  handle(message) {
    if (message.error || message === "close" || message === "stop") throw new RequestError(0, "The listen has ended.");
    if (message.documentChange || message.documentDelete || message.documentRemove) this.isChanged = true;
    const change = message.targetChange;
    if (!change) return;
    if (change.targetChangeType === "REMOVE") throw new RequestError(0, change.cause?.message ?? "The listen has ended.");
    if (change.targetChangeType === "RESET") this.isChanged = true;
    if (change.targetChangeType === "CURRENT" && !this.isCurrent) {
      this.isCurrent = true;
      this.onState(true);
    }
    // The end of a snapshot names no target.
    const isEnd = (change.targetChangeType ?? "NO_CHANGE") === "NO_CHANGE" && !change.targetIds?.length;
    if (!isEnd || !this.isCurrent || !this.isChanged) return;
    this.isChanged = false;
    this.onChange();
  }

  /** Ends the session at the server; one that is not ended expires. */
  leave() {
    if (!this.names) return;
    const parameters = { ...this.names, RID: "2", TYPE: "terminate" };
    this.names = undefined;
    send("POST", this.url(parameters), { body: "count=0", headers: form }).catch(() => {});
  }
}

/** The chunks of a response: each behind its length in UTF-16 code units. */
function chunks(text) {
  const found = [];
  let start = 0;
  while (start < text.length) {
    const line = text.indexOf("\n", start);
    const length = line < 0 ? NaN : Number(text.slice(start, line));
    if (!Number.isInteger(length)) throw new RequestError(0, "The response is malformed.");
    start = line + 1 + length;
    found.push(parse(text.slice(line + 1, start)));
  }
  return found;
}

"""#,
  ]
}
