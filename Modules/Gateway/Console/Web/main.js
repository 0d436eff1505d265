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
