// A list of any length: only the rows on the screen are in the document.
import { h } from "./dom.js";

const spare = 8;
// Browsers cannot lay out elements that are taller than this.
const tallest = 16_000_000;

export class VirtualList {
  /**
   * @param render makes the element of the row at an index
   * @param onRange is told the first and last index on the screen
   */
  constructor({ rowHeight = 30, attributes = {}, render, onRange = () => {} }) {
    this.rowHeight = rowHeight;
    this.render = render;
    this.onRange = onRange;
    this.count = 0;
    this.canvas = h("div", { class: "canvas", role: "presentation" });
    this.element = h("div", { class: "virtual", tabindex: "0", ...attributes }, this.canvas);
    this.element.addEventListener("scroll", () => this.schedule(), { passive: true });
    // A row that is replaced while it is pressed would lose its click.
    this.element.addEventListener("pointerdown", (event) => { this.isPressed = event.target !== this.element; });
    this.release = () => setTimeout(() => {
      this.isPressed = false;
      if (this.isLate) this.schedule();
    });
    for (const name of ["pointerup", "pointercancel"]) window.addEventListener(name, this.release);
    this.observer = new ResizeObserver(() => this.schedule());
    this.observer.observe(this.element);
  }

  get height() { return Math.min(this.count * this.rowHeight, tallest); }

  // Beyond the tallest canvas, places are scaled.
  get scale() { return this.count ? this.height / (this.count * this.rowHeight) : 1; }

  setCount(count) {
    this.count = count;
    this.canvas.style.height = `${this.height}px`;
    this.schedule();
  }

  schedule() {
    if (this.isScheduled) return;
    this.isScheduled = true;
    requestAnimationFrame(() => {
      this.isScheduled = false;
      this.draw();
    });
  }

  range() {
    const top = this.element.scrollTop / this.scale;
    const first = Math.max(0, Math.floor(top / this.rowHeight));
    const last = Math.min(this.count, Math.ceil((top + this.element.clientHeight) / this.rowHeight));
    return [first, last];
  }

  draw() {
    this.isLate = this.isPressed;
    if (this.isLate) return;
    const [first, last] = this.range();
    const from = Math.max(0, first - spare);
    const to = Math.min(this.count, last + spare);
    const offset = this.element.scrollTop - (this.element.scrollTop / this.scale);
    const rows = [];
    for (let index = from; index < to; index += 1) {
      const row = this.render(index);
      row.style.top = `${index * this.rowHeight + (this.scale < 1 ? offset : 0)}px`;
      row.style.height = `${this.rowHeight}px`;
      rows.push(row);
    }
    this.canvas.replaceChildren(...rows);
    this.onRange(first, last);
  }

  /** Brings a row onto the screen. */
  reveal(index) {
    const top = index * this.rowHeight * this.scale;
    const view = this.element;
    if (top < view.scrollTop) view.scrollTop = top;
    const bottom = top + this.rowHeight;
    if (bottom > view.scrollTop + view.clientHeight) view.scrollTop = bottom - view.clientHeight;
    this.schedule();
  }

  close() {
    this.observer.disconnect();
    for (const name of ["pointerup", "pointercancel"]) window.removeEventListener(name, this.release);
  }
}
