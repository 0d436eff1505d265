// Finds elements as assistive technology names them, and checks what it would meet.
globalThis.tern = {
  roles: {
    A: "link", BUTTON: "button", SELECT: "combobox", TEXTAREA: "textbox", SUMMARY: "summary", MAIN: "main", NAV: "navigation",
    H1: "heading", H2: "heading", H3: "heading", TABLE: "table", DIALOG: "dialog", FORM: "form", IMG: "image", LI: "listitem",
    PRE: "text",
  },

  role(element) {
    const given = element.getAttribute("role");
    if (given) return given;
    if (element.tagName === "INPUT") return element.type === "number" ? "spinbutton" : element.list ? "combobox" : "textbox";
    return this.roles[element.tagName] ?? "";
  },

  name(element) {
    const label = element.getAttribute("aria-label");
    if (label) return label.trim();
    const by = element.getAttribute("aria-labelledby");
    if (by) return document.getElementById(by)?.textContent.trim() ?? "";
    if (element.labels?.length) return element.labels[0].textContent.trim();
    if (element.tagName === "IMG") return element.alt;
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName)) return "";
    return element.textContent.trim().replace(/\s+/g, " ");
  },

  isVisible(element) {
    return element.getClientRects().length > 0 && getComputedStyle(element).visibility !== "hidden";
  },

  find(role, name, inside) {
    const open = [...document.querySelectorAll("dialog[open]")].at(-1);
    const within = inside === document && open ? open : inside;
    const all = [...within.querySelectorAll("*")].filter((one) =>
      (this.role(one) === role || role === "textbox" && this.role(one) === "combobox" && one.tagName === "INPUT") && this.isVisible(one));
    return all.find((one) => this.name(one) === name) ?? all.find((one) => this.name(one).startsWith(name));
  },

  place(element) {
    if (!element) return undefined;
    if (!element.style.top) element.scrollIntoView({ block: "nearest" });
    const box = element.getBoundingClientRect();
    if (!box.width || element.disabled) return undefined;
    return [box.left + Math.min(box.width / 2, 120), box.top + box.height / 2];
  },

  focus(element) {
    element?.focus();
    return Boolean(element) && document.activeElement === element;
  },

  choose(element, value) {
    if (!element) return false;
    const option = [...element.options].find((one) => one.value === value || one.textContent === value);
    if (!option) return false;
    element.value = option.value;
    element.dispatchEvent(new Event("input", { bubbles: true }));
    element.dispatchEvent(new Event("change", { bubbles: true }));
    return true;
  },

  // MARK: Accessibility

  color(text) {
    const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number);
    return { r, g, b, a };
  },

  back(element) {
    for (let one = element; one; one = one.parentElement) {
      const color = this.color(getComputedStyle(one).backgroundColor);
      if (color.a > 0.99) return color;
    }
    return matchMedia("(prefers-color-scheme: dark)").matches ? { r: 0, g: 0, b: 0 } : { r: 255, g: 255, b: 255 };
  },

  contrast(element) {
    const light = ({ r, g, b }) => {
      const [x, y, z] = [r, g, b].map((part) => {
        const value = part / 255;
        return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * x + 0.7152 * y + 0.0722 * z;
    };
    const [a, b] = [light(this.color(getComputedStyle(element).color)), light(this.back(element))];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  },

  /** The faults of the page: one line each. */
  faults() {
    const faults = [];
    const describe = (one) => `${one.tagName.toLowerCase()}${one.id ? `#${one.id}` : ""} “${one.textContent.trim().slice(0, 40)}”`;
    const visible = [...document.querySelectorAll("body *")].filter((one) => this.isVisible(one));
    if (document.documentElement.lang !== "en") faults.push("the page has no language");
    if (!document.title) faults.push("the page has no title");
    if (visible.filter((one) => one.tagName === "MAIN").length !== 1) faults.push("the page has not one main part");
    if (visible.filter((one) => one.tagName === "H1").length !== 1) faults.push("the page has not one first heading");
    const ids = visible.map((one) => one.id).filter(Boolean);
    for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) faults.push(`the id ${id} comes twice`);
    const roles = new Set(["button", "link", "textbox", "combobox", "spinbutton", "tree", "listbox", "dialog", "treeitem", "option", "region", "toolbar", "group", "navigation", "image"]);
    for (const one of visible) {
      const role = this.role(one);
      if (role === "image" && one.hasAttribute("alt")) continue;
      if (roles.has(role) && !this.name(one)) faults.push(`${role} without a name: ${one.outerHTML.slice(0, 120)}`);
      if (one.tabIndex > 0) faults.push(`out of the order of focus: ${describe(one)}`);
      const isOwnText = [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
      const isHidden = one.closest("[aria-hidden=true], .hidden-text, .skip");
      if (isOwnText && !isHidden && !one.closest("option")) {
        const contrast = this.contrast(one);
        if (contrast < 4.5) faults.push(`contrast ${contrast.toFixed(2)}: ${describe(one)}`);
      }
      const isControl = /^(BUTTON|SELECT|INPUT)$/.test(one.tagName);
      const box = one.getBoundingClientRect();
      if (isControl && (box.height < 23.5 || box.width < 20) && !one.matches(".link")) {
        faults.push(`a target of ${box.width.toFixed(0)} by ${box.height.toFixed(0)}: ${describe(one)}`);
      }
    }
    const levels = visible.filter((one) => /^H[1-6]$/.test(one.tagName)).map((one) => Number(one.tagName[1]));
    levels.forEach((level, index) => { if (index && level > levels[index - 1] + 1) faults.push(`a heading of level ${level} behind one of ${levels[index - 1]}`); });
    if (document.documentElement.scrollWidth > innerWidth + 1) faults.push(`the page is ${document.documentElement.scrollWidth} wide on ${innerWidth}`);
    return [...new Set(faults)];
  },
};
