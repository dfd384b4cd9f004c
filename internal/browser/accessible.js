(() => {
  const problems = [];
  const describe = e => {
    let name = e.tagName.toLowerCase();
    if (e.id) name += "#" + e.id;
    else if (typeof e.className === "string" && e.className) name += "." + e.className.trim().split(/\s+/).join(".");
    const text = (e.textContent || "").trim().replace(/\s+/g, " ").slice(0, 40);
    return text ? name + " (" + text + ")" : name;
  };
  const shown = e => e.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const spoken = e => shown(e) && !e.closest("[aria-hidden=true]");

  // Contrast. Colours are read through a canvas, which resolves every notation.
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  const cache = new Map();
  const parse = text => {
    if (!cache.has(text)) {
      pen.clearRect(0, 0, 1, 1);
      pen.fillStyle = text;
      pen.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data;
      cache.set(text, [r, g, b, a / 255]);
    }
    return cache.get(text);
  };
  const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3]));
  const background = e => {
    const layers = [];
    for (; e; e = e.parentElement) {
      const style = getComputedStyle(e);
      if (style.backgroundImage !== "none") return null; // a picture: not judged
      const c = parse(style.backgroundColor);
      if (c[3] > 0) layers.push(c);
      if (c[3] >= 1) break;
    }
    let dark = matchMedia("(prefers-color-scheme: dark)").matches && getComputedStyle(document.documentElement).colorScheme.includes("dark");
    let colour = dark ? [18, 18, 18] : [255, 255, 255];
    for (const layer of layers.reverse()) colour = over(layer, colour);
    return colour;
  };
  const luminance = c => {
    const [r, g, b] = c.map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (a, b) => {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  const judged = new Set();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const e = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || judged.has(e) || !shown(e) || e.closest("script, style, title, :disabled")) continue;
    judged.add(e);
    const style = getComputedStyle(e), svg = e instanceof SVGElement;
    const behind = background(e);
    if (!behind) continue;
    const ink = parse(svg ? style.fill : style.color);
    if (svg && (style.fill === "none" || ink[3] === 0)) continue;
    const size = parseFloat(style.fontSize), large = size >= 24 || size >= 18.66 && +style.fontWeight >= 700;
    const found = ratio(over(ink, behind), behind), least = large ? 3 : 4.5;
    if (found < least - 0.005) problems.push(`contrast ${found.toFixed(2)} instead of ${least}: ${describe(e)}`);
  }

  // Names.
  const byIDs = ids => ids.split(/\s+/).map(id => document.getElementById(id)?.textContent.trim() || "").join(" ").trim();
  const nameOf = e => {
    if (e.getAttribute("aria-labelledby")) return byIDs(e.getAttribute("aria-labelledby"));
    if (e.getAttribute("aria-label")) return e.getAttribute("aria-label").trim();
    if (e.labels && e.labels.length) return [...e.labels].map(l => l.textContent.trim()).join(" ").trim();
    if (e instanceof SVGElement) return e.querySelector(":scope > title")?.textContent.trim() || "";
    if (e.tagName === "IMG") return e.alt.trim();
    if (["BUTTON", "A", "SUMMARY"].includes(e.tagName) || e.getAttribute("role")) {
      return e.textContent.trim() || [...e.querySelectorAll("img, svg")].map(nameOf).join(" ").trim();
    }
    return (e.title || "").trim();
  };
  const controls = "button, a[href], input:not([type=hidden]), select, textarea, summary, [role=button], [role=combobox], [role=listbox], [role=slider], [role=tab], [role=dialog], [tabindex='0']";
  for (const e of document.querySelectorAll(controls)) if (spoken(e) && !nameOf(e)) problems.push("control without a name: " + describe(e));
  for (const e of document.querySelectorAll("img, svg, canvas, [role=img]")) {
    if (!spoken(e) || e.closest("button, a") || e.parentElement.closest("svg")) continue;
    if (e.tagName === "IMG" && e.hasAttribute("alt") && e.alt === "") continue; // decoration
    if (!nameOf(e)) problems.push("picture without a name: " + describe(e));
    else if (e.tagName !== "IMG" && !e.getAttribute("role")) problems.push("picture without a role: " + describe(e));
  }
  for (const e of document.querySelectorAll("table")) {
    if (!spoken(e)) continue;
    if (!e.querySelector("th")) problems.push("table without header cells: " + describe(e));
    if (!e.caption && !e.getAttribute("aria-label") && !e.getAttribute("aria-labelledby")) problems.push("table without a caption: " + describe(e));
  }
  for (const e of document.querySelectorAll("[tabindex]")) if (+e.getAttribute("tabindex") > 0) problems.push("tabindex above 0: " + describe(e));
  for (const attribute of ["aria-labelledby", "aria-describedby", "aria-controls", "aria-activedescendant", "for"]) {
    for (const e of document.querySelectorAll(`[${attribute}]`)) {
      for (const id of e.getAttribute(attribute).split(/\s+/)) if (id && !document.getElementById(id)) problems.push(`${attribute} names the missing id ${id}: ${describe(e)}`);
    }
  }

  // Structure.
  if (!document.documentElement.lang) problems.push("the page has no language");
  if (!document.title.trim()) problems.push("the page has no title");
  if (!document.querySelector("meta[name=viewport]")) problems.push("the page does not set the viewport");
  if (!document.querySelector("main")) problems.push("the page has no main element");
  const headings = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].filter(spoken);
  if (headings.filter(h => h.tagName === "H1").length !== 1) problems.push("the page does not have exactly one h1");
  let level = 0;
  for (const h of headings) {
    const next = +h.tagName[1];
    if (next > level + 1) problems.push(`heading h${next} after h${level}: ${describe(h)}`);
    level = next;
  }
  const ids = new Set();
  for (const e of document.querySelectorAll("[id]")) {
    if (ids.has(e.id)) problems.push("id is repeated: " + e.id);
    ids.add(e.id);
  }
  if (document.documentElement.scrollWidth > innerWidth + 1) problems.push(`the page is ${document.documentElement.scrollWidth} pixels wide in a window of ${innerWidth}`);
  return problems;
})()
