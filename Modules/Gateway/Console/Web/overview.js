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
