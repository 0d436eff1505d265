// Copies of the data: whole trees as JSON, and the commands for everything.
import { databases, request, session, treeTarget } from "./api.js";
import { announce, attempt, h, replace, save, select } from "./dom.js";

export function backupPage() {
  const names = h("div", {});
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
  const address = location.host;
  const isTLS = location.protocol === "https:" ? " --tls" : "";
  const element = h("section", { class: "page" }, h("h1", {}, "Backup"),
    h("h2", {}, "Everything"),
    h("p", {}, "A backup has all databases of both models, the rules and the settings as of one moment. It is made on the command line:"),
    h("pre", { class: "output" }, `tern backup backup-folder --server ${address}${isTLS}\ntern restore backup-folder --path new-data`),
    h("h2", {}, "One tree as JSON"),
    h("p", {}, "The text that the Realtime Database's own console exports and imports, with priorities."),
    h("div", { class: "row" }, chosen,
      h("button", { type: "button", class: "primary", onclick: () => attempt(exportTree) }, "Export")), names,
    h("p", { class: "hint" }, "To import a file, choose a node of the tree."));
  return { element, close() {} };
}
