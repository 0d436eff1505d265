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
