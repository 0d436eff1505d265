// A listen to a query of documents over WebChannel, the protocol of Firestore's clients in browsers.
import { documentsRoot, RequestError, send, session } from "./api.js";
import { encode, parse } from "./json.js";

const shortestPauseMilliseconds = 1_000;
const longestPauseMilliseconds = 30_000;
const path = "/google.firestore.v1.Firestore/Listen/channel";
const form = { "Content-Type": "application/x-www-form-urlencoded" };

/** Tells when the result of a query changes, over long polls, which any proxy lets through. */
export class DocumentWatch {
  /**
   * @param target the parent's name and the structured query
   * @param onChange called when the listen begins, and after each change
   * @param onState called with `true` once changes are told, with `false` when they are not
   */
  constructor(target, { onChange, onState }) {
    this.target = target;
    this.onChange = onChange;
    this.onState = onState;
    this.database = documentsRoot().replace(/\/documents$/, "");
    this.isClosed = false;
    this.abort = new AbortController();
    this.run();
  }

  close() {
    this.isClosed = true;
    this.abort.abort();
    clearTimeout(this.timer);
    this.leave();
  }

  async run() {
    let pause = shortestPauseMilliseconds;
    while (!this.isClosed) {
      try {
        await this.open();
        while (!this.isClosed) {
          await this.poll();
          pause = shortestPauseMilliseconds;
        }
      } catch { /* The session is opened again. */ }
      if (this.isClosed) return;
      this.leave();
      this.onState(false);
      await new Promise((done) => { this.timer = setTimeout(done, pause); });
      pause = Math.min(pause * 2, longestPauseMilliseconds);
    }
  }

  url(parameters) {
    const zx = Math.random().toString(36).slice(2);
    return `${path}?${new URLSearchParams({ VER: "8", database: this.database, ...parameters, zx, t: "1" })}`;
  }

  async exchange(method, parameters, body) {
    const { signal } = this.abort;
    const response = await send(method, this.url(parameters), { body, signal, headers: body ? form : {} });
    const text = await response.text();
    if (!response.ok) throw new RequestError(response.status, text.slice(0, 500));
    return { response, text };
  }

  async open() {
    this.names = undefined;
    this.lastID = 0;
    this.isCurrent = false;
    this.isChanged = true;
    const message = { database: this.database, addTarget: { query: this.target, targetId: 1 } };
    const body = new URLSearchParams({
      headers: `Authorization:Bearer ${session.credential}\r\n`,
      count: "1", ofs: "0", req0___data__: encode(message),
    });
    const parameters = { RID: "1", CVER: "22", "X-HTTP-Session-Id": "gsessionid" };
    const { response, text } = await this.exchange("POST", parameters, body.toString());
    const [[, [, id]]] = chunks(text)[0];
    this.names = { gsessionid: response.headers.get("x-http-session-id") ?? "", SID: id };
    // It was closed meanwhile.
    if (this.isClosed) this.leave();
  }

  async poll() {
    const parameters = { ...this.names, RID: "rpc", AID: String(this.lastID), CI: "1", TYPE: "xmlhttp" };
    const { text } = await this.exchange("GET", parameters);
    for (const arrays of chunks(text)) {
      for (const [id, messages] of arrays) {
        if (id <= this.lastID) continue;
        this.lastID = id;
        for (const message of messages) this.handle(message);
      }
    }
  }

  handle(message) {
    if (message.error || message === "close" || message === "stop") throw new RequestError(0, "The listen has ended.");
    if (message.documentChange || message.documentDelete || message.documentRemove) this.isChanged = true;
    const change = message.targetChange;
    if (!change) return;
    if (change.targetChangeType === "REMOVE") throw new RequestError(0, change.cause?.message ?? "The listen has ended.");
    if (change.targetChangeType === "RESET") this.isChanged = true;
    if (change.targetChangeType === "CURRENT" && !this.isCurrent) {
      this.isCurrent = true;
      this.onState(true);
    }
    // The end of a snapshot names no target.
    const isEnd = (change.targetChangeType ?? "NO_CHANGE") === "NO_CHANGE" && !change.targetIds?.length;
    if (!isEnd || !this.isCurrent || !this.isChanged) return;
    this.isChanged = false;
    this.onChange();
  }

  /** Ends the session at the server; one that is not ended expires. */
  leave() {
    if (!this.names) return;
    const parameters = { ...this.names, RID: "2", TYPE: "terminate" };
    this.names = undefined;
    send("POST", this.url(parameters), { body: "count=0", headers: form }).catch(() => {});
  }
}

/** The chunks of a response: each behind its length in UTF-16 code units. */
function chunks(text) {
  const found = [];
  let start = 0;
  while (start < text.length) {
    const line = text.indexOf("\n", start);
    const length = line < 0 ? NaN : Number(text.slice(start, line));
    if (!Number.isInteger(length)) throw new RequestError(0, "The response is malformed.");
    start = line + 1 + length;
    found.push(parse(text.slice(line + 1, start)));
  }
  return found;
}
