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
