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
