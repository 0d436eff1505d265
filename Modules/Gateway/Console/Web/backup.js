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
