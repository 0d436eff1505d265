// Metrics as small charts, from the text that a monitoring system reads.
import { request } from "./api.js";
import { field, h, replace, svg } from "./dom.js";

const pauseMilliseconds = 2_000;
const mostSamples = 150;
const fewestSamples = 30;
const mostCharts = 60;

/** Reads the text format of Prometheus: families with their samples. */
export function readMetrics(text) {
  const families = new Map();
  const family = (name) => {
    if (!families.has(name)) families.set(name, { name, type: "untyped", help: "", samples: [] });
    return families.get(name);
  };
  for (const line of text.split("\n")) {
    if (line.startsWith("# TYPE ")) {
      const [, , name, type] = line.split(" ");
      family(name).type = type;
    } else if (line.startsWith("# HELP ")) {
      const [, , name, ...words] = line.split(" ");
      family(name).help = words.join(" ");
    } else if (line && !line.startsWith("#")) {
      const match = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(line);
      if (!match) continue;
      const base = match[1].replace(/_(bucket|sum|count)$/, "");
      const owner = families.get(base)?.type === "histogram" ? base : match[1];
      family(owner).samples.push({ name: match[1], labels: labels(match[2] ?? ""), value: Number(match[3].replace("Inf", "Infinity")) });
    }
  }
  return [...families.values()].filter((one) => one.samples.length);
}

function labels(text) {
  const found = {};
  for (const [, name, value] of text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) found[name] = value.replace(/\\(.)/g, "$1");
  return found;
}

function labelText(all, without) {
  return Object.entries(all).filter(([name]) => name !== without).map(([, value]) => value).join(" ");
}

export function metricsPage() { return new MetricsPage(); }

class MetricsPage {
  constructor() {
    this.history = new Map();
    this.charts = new Map();
    this.find = h("input", { placeholder: "name", spellcheck: "false", oninput: () => this.draw() });
    this.state = h("p", { class: "hint", role: "status" });
    this.grid = h("div", { class: "charts" });
    this.element = h("section", { class: "page" }, h("h1", {}, "Metrics"), field("Find", this.find), this.state, this.grid);
    this.read();
  }

  close() { clearTimeout(this.timer); }

  async read() {
    try {
      const response = await request("GET", "/-/metrics");
      this.add(readMetrics(await response.text()));
      this.draw();
    } catch (error) {
      this.state.textContent = error.status === 404 ? "This server tells no metrics." : error.message;
      if (error.status === 404) return;
    }
    this.timer = setTimeout(() => this.read(), pauseMilliseconds);
  }

  add(families) {
    const now = performance.now();
    this.families = families;
    for (const one of families) {
      if (one.type === "histogram") this.addHistogram(one, now);
      else for (const sample of one.samples) this.addSample(one, sample, now);
    }
  }

  series(family, label) {
    const lines = this.history.get(family) ?? this.history.set(family, new Map()).get(family);
    return lines.get(label) ?? lines.set(label, { points: [], last: undefined }).get(label);
  }

  addSample(one, sample, now) {
    const line = this.series(one.name, labelText(sample.labels));
    if (one.type !== "counter") return push(line, sample.value);
    if (line.last) push(line, Math.max(0, (sample.value - line.last.value) / (now - line.last.now) * 1_000));
    line.last = { value: sample.value, now };
    return undefined;
  }

  /** The medians and the 99th percentiles of what came since the last reading. */
  addHistogram(one, now) {
    const groups = new Map();
    for (const sample of one.samples) {
      if (!sample.name.endsWith("_bucket")) continue;
      const label = labelText(sample.labels, "le");
      if (!groups.has(label)) groups.set(label, []);
      groups.get(label).push([Number(sample.labels.le.replace("Inf", "Infinity")), sample.value]);
    }
    for (const [label, buckets] of groups) {
      buckets.sort((a, b) => a[0] - b[0]);
      const before = this.series(one.name, `${label} p50`);
      const since = buckets.map(([bound, count], index) => [bound, count - (before.last?.value[index]?.[1] ?? count)]);
      for (const [part, name] of [[0.5, "p50"], [0.99, "p99"]]) {
        const value = quantile(since, part);
        push(this.series(one.name, `${label} ${name}`), value ?? 0);
      }
      before.last = { value: buckets, now };
    }
  }

  draw() {
    if (!this.families) return;
    const wanted = this.find.value.trim().toLowerCase();
    const shown = this.families.filter((one) => !wanted || one.name.includes(wanted) || one.help.toLowerCase().includes(wanted));
    this.state.textContent = `${this.families.length} metrics, ${shown.length} shown; rates are for each second`;
    replace(this.grid, shown.slice(0, mostCharts).map((one) => this.chart(one)));
  }

  chart(one) {
    const lines = [...(this.history.get(one.name) ?? [])].filter(([, line]) => line.points.length).slice(0, 8);
    const most = Math.max(1e-9, ...lines.flatMap(([, line]) => line.points));
    const [width, height] = [240, 56];
    const unit = one.type === "counter" ? "/s" : "";
    const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", "aria-hidden": "true", preserveAspectRatio: "none" },
      lines.map(([, line], index) => svg("polyline", {
        class: `line line-${index % 8}`,
        points: line.points.map((value, at) =>
          `${(width - (line.points.length - 1 - at) * width / (Math.max(fewestSamples, line.points.length) - 1)).toFixed(1)},${(height - 2 - value / most * (height - 6)).toFixed(1)}`).join(" "),
      })));
    const values = lines.map(([label, line], index) => h("li", {},
      h("span", { class: `mark line-${index % 8}`, "aria-hidden": "true" }), label.trim() || "now", " ",
      h("strong", {}, number(line.points.at(-1)) + unit)));
    return h("article", { class: "card", "aria-label": one.name },
      h("h2", { class: "ellipsis", title: one.help }, one.name), h("p", { class: "hint" }, one.help),
      picture, h("ul", { class: "plain-list legend" }, values));
  }
}

function push(line, value) {
  line.points.push(Number.isFinite(value) ? value : 0);
  if (line.points.length > mostSamples) line.points.shift();
}

function quantile(buckets, part) {
  const total = buckets.at(-1)?.[1] ?? 0;
  if (total <= 0) return undefined;
  const found = buckets.findIndex(([, count]) => count >= total * part);
  const [bound, count] = buckets[found];
  const [low, before] = found ? buckets[found - 1] : [0, 0];
  if (!Number.isFinite(bound)) return low;
  return low + (bound - low) * (total * part - before) / Math.max(1e-9, count - before);
}

function number(value) {
  if (value === undefined) return "–";
  if (value !== 0 && Math.abs(value) < 0.01) return value.toExponential(1);
  return value.toLocaleString("en", { maximumFractionDigits: Math.abs(value) < 10 ? 2 : 0 });
}
