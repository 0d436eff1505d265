// The nodes of a tree that were opened, as rows of a list. Children are read by their names only, a
// page at a time; a leaf on the screen is listened to.
import { shallow } from "./api.js";
import { compareKeys, isBranch } from "./json.js";

export const pageSize = 10_000;
const shortestMilliseconds = 2_000;
const longestMilliseconds = 60_000;
const namesPerMillisecond = 0.5;

export class TreeNode {
  constructor(key, parent) {
    this.key = key;
    this.parent = parent;
    this.depth = parent ? parent.depth + 1 : 0;
    this.kind = "unknown";
    this.value = undefined;
    this.isOpen = false;
    this.children = [];
    this.byKey = new Map();
    this.isComplete = true;
    this.problem = undefined;
    this.unlisten = undefined;
    this.changedAt = 0;
    this.readAt = 0;
  }

  get path() {
    return this.parent ? [...this.parent.path, this.key] : this.base ?? [];
  }
}

export class TreeModel {
  constructor(base, socket, onChange) {
    this.socket = socket;
    this.onChange = onChange;
    this.root = new TreeNode(base.at(-1) ?? "", undefined);
    this.root.base = base;
    this.rows = [];
    this.visible = [];
    this.aborter = new AbortController();
    this.flatten();
  }

  close() {
    this.aborter.abort();
    clearTimeout(this.timer);
    const end = (node) => {
      this.release(node);
      node.children.forEach(end);
    };
    end(this.root);
  }

  flatten() {
    const rows = [];
    const add = (node, position, size) => {
      rows.push({ node, position, size });
      if (!node.isOpen) return;
      const count = node.children.length;
      for (let index = 0; index < count; index += 1) add(node.children[index], index + 1, count);
      if (!node.isComplete) rows.push({ more: node, depth: node.depth + 1 });
    };
    add(this.root, 1, 1);
    this.rows = rows;
    this.onChange();
  }

  /** Reads what is missing of the rows on the screen, and listens to the leaves among them. */
  show(first, last) {
    this.visible = this.rows.slice(first, last);
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.settle(), 60);
  }

  settle() {
    const seen = new Set(this.visible.map((row) => row.node));
    for (const node of this.listened ?? []) if (!seen.has(node)) this.release(node);
    this.listened = new Set();
    for (const row of this.visible) {
      if (row.more) this.readMore(row.more);
      else if (row.node.kind === "unknown") this.look(row.node);
      else if (row.node.kind === "leaf" || row.node.kind === "missing") this.watch(row.node);
      if (row.node?.unlisten) this.listened.add(row.node);
    }
    this.poll();
  }

  /** Tells a leaf from a branch. */
  look(node) {
    node.looking ??= this.lookNow(node);
    return node.looking;
  }

  async lookNow(node) {
    try {
      const found = await shallow(node.path, { limit: 1, signal: this.aborter.signal });
      node.problem = undefined;
      this.classify(node, found);
      if (node === this.root && node.kind === "branch" && !node.isOpen) this.open(node);
    } catch (error) {
      if (error.name === "AbortError") return;
      node.kind = "unknown";
      node.problem = error.message;
    } finally {
      node.looking = undefined;
      this.onChange();
    }
  }

  classify(node, found) {
    if (isBranch(found)) {
      this.release(node);
      node.kind = "branch";
    } else {
      node.kind = found === null ? "missing" : "leaf";
      node.value = found;
      node.isOpen = false;
      this.watch(node);
    }
  }

  watch(node) {
    if (node.unlisten) return;
    (this.listened ??= new Set()).add(node);
    node.unlisten = this.socket.listen(node.path, undefined, (found) => {
      // A leaf with a priority comes as an object.
      const value = isBranch(found) && ".value" in found ? found[".value"] : found;
      if (isBranch(value)) {
        this.classify(node, value);
        node.changedAt = performance.now();
        if (node === this.root) this.open(node);
        return this.onChange();
      }
      const isNew = node.value !== undefined && node.value !== value;
      const kind = value === null ? "missing" : "leaf";
      node.value = value;
      if (isNew || kind !== node.kind) node.changedAt = performance.now();
      const isGone = kind === "missing" && node.kind !== "missing";
      node.kind = kind;
      if (isGone && node.parent) this.read(node.parent);
      this.onChange();
    }, (error) => {
      node.unlisten = undefined;
      node.problem = error.message;
      this.onChange();
    });
  }

  release(node) {
    node.unlisten?.();
    node.unlisten = undefined;
  }

  async open(node) {
    if (node.kind === "unknown") await this.look(node);
    if (node.kind !== "branch" || node.isOpen) return;
    node.isOpen = true;
    await this.read(node);
  }

  close_(node) {
    node.isOpen = false;
    this.flatten();
  }

  /** Reads the names of a node's children again, as many pages as are known. */
  async read(node) {
    if (node.isReading) return;
    node.isReading = true;
    const wanted = Math.max(pageSize, node.children.length);
    const names = [];
    try {
      let after;
      let isComplete = false;
      while (names.length < wanted && !isComplete) {
        const found = await shallow(
          node.path, { after, limit: pageSize, signal: this.aborter.signal });
        if (!isBranch(found)) {
          if (names.length === 0) this.becomeLeaf(node, found);
          isComplete = true;
          break;
        }
        const page = Object.keys(found).sort(compareKeys);
        names.push(...page);
        after = page.at(-1);
        isComplete = page.length < pageSize;
      }
      node.isComplete = isComplete;
      node.problem = undefined;
      this.adopt(node, names);
    } catch (error) {
      if (error.name === "AbortError") return;
      node.problem = error.message;
      node.readAt = performance.now();
    } finally {
      node.isReading = false;
    }
    this.flatten();
  }

  becomeLeaf(node, value) {
    node.isComplete = true;
    node.children.forEach((child) => this.release(child));
    node.children = [];
    node.byKey.clear();
    this.classify(node, value);
  }

  adopt(node, names, marksNew = node.readAt > 0) {
    const known = node.byKey;
    node.byKey = new Map();
    node.children = names.map((name) => {
      const child = known.get(name) ?? new TreeNode(name, node);
      if (!known.has(name) && marksNew) child.changedAt = performance.now();
      if (child.kind === "missing") child.kind = "unknown";
      node.byKey.set(name, child);
      return child;
    });
    for (const [name, child] of known) if (!node.byKey.has(name)) this.release(child);
    node.readAt = performance.now();
  }

  /** Reads the next page of names. */
  async readMore(node) {
    if (node.isReading || node.isComplete) return;
    node.isReading = true;
    try {
      const after = node.children.at(-1)?.key;
      const found = await shallow(
        node.path, { after, limit: pageSize, signal: this.aborter.signal });
      const page = isBranch(found) ? Object.keys(found).sort(compareKeys) : [];
      node.isComplete = page.length < pageSize;
      this.adopt(node, [...node.children.map((child) => child.key), ...page], false);
    } catch (error) {
      if (error.name === "AbortError") return;
      node.problem = error.message;
    } finally {
      node.isReading = false;
    }
    this.flatten();
  }

  /** Reads the names of opened nodes on the screen again, the rarer the more there are. */
  poll() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (document.visibilityState === "visible") {
        const parents = new Set();
        for (const row of this.visible) {
          const node = row.node;
          if (!node) continue;
          if (node.isOpen) parents.add(node);
          if (node.parent) parents.add(node.parent);
          if (node.problem) node.kind = node.kind === "unknown" ? "unknown" : node.kind;
        }
        const now = performance.now();
        for (const node of parents) {
          if (node.isOpen && now - node.readAt >= this.interval(node)) this.read(node);
        }
      }
      this.poll();
    }, shortestMilliseconds / 2);
  }

  interval(node) {
    const wanted = node.children.length / namesPerMillisecond;
    return Math.min(longestMilliseconds, Math.max(shortestMilliseconds, wanted));
  }
}
