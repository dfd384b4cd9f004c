// Charts as SVG. Each has a text that says what it shows; the numbers are in tables.

const space = "http://www.w3.org/2000/svg";

function draw(name, attributes, ...children) {
  const e = document.createElementNS(space, name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  e.append(...children);
  return e;
}

export const format = v => v === null || v === undefined ? "" : Number(v).toLocaleString("en", { maximumSignificantDigits: 4 });

// ticks returns about n round numbers between low and high.
function ticks(low, high, n) {
  const raw = (high - low) / n, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(k => k * power).find(s => s >= raw) || raw;
  const all = [];
  for (let v = Math.ceil(low / step) * step; v <= high + step * 1e-9; v += step) all.push(Math.abs(v) < step * 1e-9 ? 0 : v);
  return all;
}

const text = (x, y, anchor, value) => draw("text", { x, y, "text-anchor": anchor }, value);

// histogram shows the distribution of a prediction; steps inside of the interval are darker.
export function histogram({ edges, probabilities }, low, high) {
  const width = 720, height = 200, left = 8, bottom = 26;
  const most = Math.max(...probabilities), from = edges[0], to = edges.at(-1);
  const x = v => left + (v - from) / (to - from) * (width - 2 * left);
  const y = p => (height - bottom) * (1 - p / most) + 4;
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Distribution of the value: 90 % lie between ${format(low)} and ${format(high)}.` });
  for (const [i, p] of probabilities.entries()) {
    const middle = (edges[i] + edges[i + 1]) / 2;
    svg.append(draw("rect", { x: x(edges[i]), y: y(p), width: Math.max(x(edges[i + 1]) - x(edges[i]) - 1, 0.5), height: Math.max(height - bottom + 4 - y(p), 0), class: middle >= low && middle <= high ? "inside" : "bar" }));
  }
  svg.append(draw("line", { x1: left, x2: width - left, y1: height - bottom + 4, y2: height - bottom + 4, class: "axis" }));
  for (const v of ticks(from, to, 9)) svg.append(text(x(v), height - 6, "middle", format(v)));
  return svg;
}

// series shows periods with a band from low to high, a line of means and observed points.
// points are {id, value, mean, low, high, future, chosen}.
export function series(points, target) {
  const width = 720, height = 260, left = 48, right = 12, bottom = 28, top = 8;
  const values = points.flatMap(p => [p.value, p.low, p.high]).filter(v => v !== null && v !== undefined);
  const least = Math.min(...values, 0), most = Math.max(...values, least + 1e-9);
  const x = i => left + (points.length < 2 ? 0.5 : i / (points.length - 1)) * (width - left - right);
  const y = v => top + (most - v) / (most - least) * (height - top - bottom);
  const observed = points.filter(p => p.value !== null && p.value !== undefined).length;
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${target} from ${points[0].id} to ${points.at(-1).id}: predicted means with 90 % intervals${observed ? `, and ${observed} observed values` : ""}.` });
  for (const v of ticks(least, most, 4)) {
    svg.append(draw("line", { x1: left, x2: width - right, y1: y(v), y2: y(v), class: "grid" }), text(left - 6, y(v) + 4, "end", format(v)));
  }
  const banded = points.map((p, i) => ({ ...p, i })).filter(p => p.low !== undefined && p.low !== null);
  if (banded.length > 1) {
    const path = [...banded.map(p => `${x(p.i)},${y(p.high)}`), ...banded.toReversed().map(p => `${x(p.i)},${y(p.low)}`)];
    svg.append(draw("polygon", { points: path.join(" "), class: "band" }));
  }
  for (const future of [false, true]) {
    const part = banded.filter(p => future ? p.future || p.i + 1 < points.length && points[p.i + 1].future : !p.future);
    if (part.length > 1) svg.append(draw("polyline", { points: part.map(p => `${x(p.i)},${y(p.mean)}`).join(" "), class: future ? "line future" : "line" }));
  }
  for (const [i, p] of points.entries()) {
    if (p.value !== null && p.value !== undefined) svg.append(draw("circle", { cx: x(i), cy: y(p.value), r: 3, class: "point" }));
    if (p.chosen) svg.append(draw("line", { x1: x(i), x2: x(i), y1: top, y2: height - bottom, class: "chosen" }));
  }
  svg.append(draw("line", { x1: left, x2: width - right, y1: height - bottom, y2: height - bottom, class: "axis" }));
  const every = Math.ceil(points.length / 6);
  for (const [i, p] of points.entries()) if (i % every === 0) svg.append(text(x(i), height - 8, i === 0 ? "start" : "middle", p.id));
  return svg;
}

// step shows one step of a waterfall between the least and the most value of all.
export function step(from, to, least, most, whole) {
  const x = v => 200 * (v - least) / (most - least || 1);
  const svg = draw("svg", { viewBox: "0 0 200 16", "aria-hidden": "true" });
  svg.append(draw("rect", { x: Math.min(x(from), x(to)), y: 3, width: Math.max(Math.abs(x(to) - x(from)), 1), height: 10, class: whole ? "whole" : to >= from ? "up" : "down" }));
  return svg;
}

// table returns a table with a caption. Cells are texts, numbers or elements.
export function table(caption, head, rows, textColumns = [0]) {
  const t = document.createElement("table");
  t.createCaption().textContent = caption;
  const header = t.createTHead().insertRow();
  const classOf = i => textColumns.includes(i) ? "text" : "";
  for (const [i, name] of head.entries()) {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.className = classOf(i);
    cell.textContent = name;
    header.append(cell);
  }
  const body = t.createTBody();
  for (const row of rows) {
    const line = body.insertRow();
    for (const [i, value] of row.entries()) {
      const cell = line.insertCell();
      cell.className = classOf(i);
      cell.append(typeof value === "number" ? format(value) : value ?? "");
    }
  }
  return t;
}
