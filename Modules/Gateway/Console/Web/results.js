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
