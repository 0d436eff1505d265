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
