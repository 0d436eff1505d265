// A client of the tree's protocol over WebSocket: listens that survive a lost connection.
import { RequestError, session } from "./api.js";
import { encode, isBranch, parse } from "./json.js";

const aliveMilliseconds = 45_000;
const slowestMilliseconds = 15_000;

export class TreeSocket {
  constructor(database, onState) {
    this.database = database;
    this.onState = onState;
    this.listens = new Map();
    this.waiting = new Map();
    this.number = 0;
    this.pause = 250;
    this.isClosed = false;
    this.isReady = false;
    this.connect();
  }

  connect() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const query = new URLSearchParams({ v: "5", ns: this.database });
    const socket = new WebSocket(`${scheme}://${location.host}/.ws?${query}`);
    this.socket = socket;
    this.parts = [];
    this.partsLeft = 0;
    socket.addEventListener("message", (event) => this.receive(event.data));
    socket.addEventListener("close", () => this.lose(socket));
    socket.addEventListener("open", () => {
      this.alive = setInterval(() => socket.send("0"), aliveMilliseconds);
    });
  }

  lose(socket) {
    if (socket !== this.socket) return;
    clearInterval(this.alive);
    this.isReady = false;
    for (const waiting of this.waiting.values()) {
      waiting.reject(new RequestError(0, "The connection was lost."));
    }
    this.waiting.clear();
    if (this.isClosed) return;
    this.onState("offline");
    this.timer = setTimeout(() => this.connect(), this.pause);
    this.pause = Math.min(this.pause * 2, slowestMilliseconds);
  }

  close() {
    this.isClosed = true;
    clearTimeout(this.timer);
    clearInterval(this.alive);
    this.socket.close();
  }

  receive(text) {
    if (this.partsLeft) {
      this.parts.push(text);
      this.partsLeft -= 1;
      if (this.partsLeft) return;
      const whole = this.parts.join("");
      this.parts = [];
      return this.handle(parse(whole));
    }
    if (/^\d{1,6}$/.test(text)) {
      this.partsLeft = Number(text);
      return;
    }
    this.handle(parse(text));
  }

  handle(message) {
    if (message.t === "c") {
      if (message.d.t === "h") this.greet();
      return;
    }
    const data = message.d;
    if (data.r !== undefined) {
      const waiting = this.waiting.get(data.r);
      this.waiting.delete(data.r);
      if (!waiting) return;
      if (data.b.s === "ok") waiting.resolve(data.b.d);
      else waiting.reject(new RequestError(0, sentence(data.b)));
      return;
    }
    if (data.a === "d" || data.a === "m") this.push(data.a, data.b);
    if (data.a === "c") this.cancel(data.b);
  }

  async greet() {
    this.pause = 250;
    try {
      await this.ask("gauth", { cred: session.credential });
    } catch (error) {
      this.onState("denied");
      return;
    }
    this.isReady = true;
    this.onState("online");
    for (const listen of this.listens.values()) this.start(listen);
  }

  ask(action, body) {
    this.number += 1;
    const number = this.number;
    this.socket.send(encode({ t: "d", d: { r: number, a: action, b: body } }));
    return new Promise((resolve, reject) => this.waiting.set(number, { resolve, reject }));
  }

  /**
   * Listens at a path; `query` has the members of the protocol.
   *
   * @returns a function that ends it
   */
  listen(path, query, onValue, onError = () => {}) {
    const tag = query ? (this.lastTag = (this.lastTag ?? 0) + 1) : undefined;
    const text = path.join("/");
    const key = tag === undefined ? `/${text}` : `#${tag}`;
    const listen = { key, text, tag, query, onValue, onError, value: null };
    this.listens.set(key, listen);
    if (this.isReady) this.start(listen);
    return () => {
      if (this.listens.get(key) !== listen) return;
      this.listens.delete(key);
      if (this.isReady) this.ask("n", body(listen)).catch(() => {});
    };
  }

  start(listen) {
    this.ask("q", { ...body(listen), h: "" }).catch((error) => listen.onError(error));
  }

  push(action, { p: text, d: data, t: tag }) {
    for (const listen of this.listens.values()) {
      if (tag !== undefined ? listen.tag !== tag : listen.tag !== undefined) continue;
      const base = listen.text ? listen.text.split("/") : [];
      const path = text ? text.split("/").filter(Boolean) : [];
      if (tag === undefined && !base.every((key, index) => path[index] === key)) continue;
      const rest = path.slice(base.length);
      if (action === "d") {
        listen.value = changed(listen.value, rest, data);
      } else {
        for (const [below, value] of Object.entries(data)) {
          listen.value = changed(listen.value, [...rest, ...below.split("/").filter(Boolean)], value);
        }
      }
      listen.onValue(listen.value);
    }
  }

  cancel({ p: text, d: reason, q: query }) {
    for (const listen of [...this.listens.values()]) {
      if (listen.text !== text.replace(/^\//, "") || Boolean(query) !== (listen.tag !== undefined)) continue;
      this.listens.delete(listen.key);
      listen.onError(new RequestError(0, reason ?? "The listen was ended."));
    }
  }
}

function body(listen) {
  const body = { p: `/${listen.text}` };
  return listen.query ? { ...body, q: listen.query, t: listen.tag } : body;
}

function sentence(answer) {
  return typeof answer.d === "string" && answer.d ? answer.d : answer.s;
}

/** A value in which another one stands at a path; `null` removes. */
function changed(value, path, next) {
  if (!path.length) return next;
  const copy = isBranch(value) ? { ...value } : {};
  const before = Object.hasOwn(copy, path[0]) ? copy[path[0]] : null;
  const inner = changed(before, path.slice(1), next);
  if (inner === null) delete copy[path[0]];
  else Object.defineProperty(copy, path[0], { value: inner, enumerable: true, configurable: true, writable: true });
  return Object.keys(copy).length ? copy : null;
}
