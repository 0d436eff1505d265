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
