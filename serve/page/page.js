// The page: choose a model and the ids of a cell, see its prediction.

import { Failure, get, post, setToken } from "./api.js";
import { format, histogram, series, step, table } from "./charts.js";
import { combobox } from "./combobox.js";
import { showMonitor } from "./monitor.js";
import { showUpdate, take, undo } from "./update.js";

const $ = id => document.getElementById(id);
let models = [], model = null, fields = {}, scenarios = [], last = null, turn = 0;

// attempt runs work and shows what goes wrong. A missing token is asked for.
async function attempt(work) {
  try {
    await work();
    $("problem").textContent = "";
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (error.status === 401) {
      $("token-form").hidden = false;
      $("token").focus();
    }
    $("problem").textContent = error.message;
  }
}

async function start() {
  ({ models } = await get("models"));
  $("token-form").hidden = true;
  $("model").replaceChildren(...models.map(m => new Option(m.model, m.model)));
  chooseModel();
  await showMonitor();
}

function chooseModel() {
  model = models.find(m => m.model === $("model").value) || models[0];
  showAbout();
  fields = {};
  last = null;
  scenarios = [];
  for (const id of ["prediction", "update", "reasons", "series", "what-if", "scenarios"]) $(id).hidden = true;
  $("modes").replaceChildren(...model.modes.map((mode, i) => {
    const { box, input } = combobox("mode-" + i, `${mode.mode} (${mode.ids.toLocaleString("en")} ids)`, mode.example,
      async text => (await get(`models/${model.model}/ids`, { mode: mode.mode, search: text, limit: 50 })).ids);
    fields[mode.mode] = input;
    return box;
  }), ...model.measures.map((name, i) => {
    const box = document.createElement("div"), label = document.createElement("label"), input = document.createElement("input");
    box.className = "field";
    Object.assign(input, { id: "measure-" + i, type: "number", min: 0, step: "any", value: 1, required: true });
    label.htmlFor = input.id;
    label.textContent = name;
    fields[name] = input;
    box.append(label, input);
    return box;
  }));
}

function showAbout() {
  $("about").textContent = `predicts ${model.target}, from ${model.rows.toLocaleString("en")} rows; version ${model.version}`;
}

const cellOf = () => Object.fromEntries(Object.entries(fields).map(([name, input]) => [name, input.value]));
const describe = cell => Object.entries(cell).map(([name, id]) => `${name} ${id}`).join(", ");

// predict shows the prediction of a cell and returns it, unless another cell is chosen
// meanwhile.
async function predict(cell = cellOf()) {
  const number = ++turn;
  const { predictions: [p] } = await post("predict", { model: model.model, cells: [cell], quantiles: [0.05, 0.25, 0.75, 0.95], histogram: true });
  if (number !== turn) return;
  last = { cell, p };
  const [low, quarter, threeQuarters, high] = p.quantiles.map(q => q.value);
  $("sentence").textContent = `${model.target} of ${describe(cell)}: ${format(p.mean)} on average, with 90 % probability between ${format(low)} and ${format(high)}.`;
  const notes = [];
  if (p.unseen.length) notes.push(`The model does not know this ${p.unseen.join(", ")}: the average one takes its place.`);
  if (p.from_side.length) notes.push(`${p.from_side.join(", ")}: predicted from side information.`);
  $("known").textContent = notes.join(" ");
  const numbers = { "Mean": p.mean, "Median": p.median, "5 % quantile": low, "25 % quantile": quarter, "75 % quantile": threeQuarters, "95 % quantile": high, "Standard deviation": p.sd, "due to the model": p.sd_model, "due to noise": p.sd_noise };
  $("numbers").replaceChildren(...Object.entries(numbers).map(([name, value]) => {
    const box = document.createElement("div"), dt = document.createElement("dt"), dd = document.createElement("dd");
    dt.textContent = name;
    dd.textContent = format(value);
    box.append(dt, dd);
    return box;
  }));
  $("distribution").replaceChildren(histogram(p.histogram, low, high));
  $("prediction").hidden = false;
  showUpdate(model);
  await Promise.all([explain(cell, number), showSeries(cell, number)]);
  return number === turn ? last : null;
}

// update takes the value of the shown cell in or out.
async function update(work) {
  const before = last;
  await work(model, before, () => {
    showAbout();
    return predict(before.cell);
  });
}

async function explain(cell, number) {
  if (!model.explains) return;
  const { explanations: [e] } = await post("explain", { model: model.model, cells: [cell] });
  if (number !== turn) return;
  const all = e.steps.flatMap(s => [s.from, s.to]), least = Math.min(...all, 0), most = Math.max(...all, 0);
  $("waterfall").replaceChildren(table(`From the average cell to this one, in ${model.target}`, ["Reason", "From", "To", "Change", "Step"],
    e.steps.map(s => [s.label, s.from, s.to, s.to - s.from, step(s.from, s.to, least, most, false)]), [0, 4]));
  $("neighbours").replaceChildren(...(e.neighbours || []).flatMap(n => {
    const title = document.createElement("h3");
    title.textContent = `Nearest to ${n.mode} ${n.id} by ${n.by}`;
    return [title, table(`${n.rows} training rows${n.mean === undefined ? "" : `, mean ${format(n.mean)}`}`, [n.mode, "Distance", "Training rows", "Mean of the target"],
      n.nearest.map(x => [x.id, x.distance, x.rows, x.mean]))];
  }));
  $("reasons").hidden = false;
  showChanges(cell, e.neighbours ?? []);
}

// showChanges shows a field for each column of side information, with its present value.
function showChanges(cell, neighbours) {
  const columns = model.modes.flatMap(mode => mode.side.map(column => ({ mode: mode.mode, column })));
  $("what-if").hidden = columns.length === 0;
  $("change-fields").replaceChildren(...columns.map(({ mode, column }, i) => {
    const box = document.createElement("div"), label = document.createElement("label"), input = document.createElement("input");
    box.className = "field";
    input.id = "change-" + i;
    input.name = `${mode}.${column}`;
    input.autocomplete = "off";
    input.placeholder = neighbours.find(n => n.mode === mode && n.side)?.side[column] ?? "";
    label.htmlFor = input.id;
    label.textContent = `${column} of ${mode} ${cell[mode]}`;
    box.append(label, input);
    return box;
  }));
}

async function predictChanges() {
  const changes = [...$("change-fields").querySelectorAll("input")].filter(i => i.value !== "").map(i => `${i.name}=${i.value}`);
  if (!changes.length || !last) return;
  const { explanations: [e] } = await post("explain", { model: model.model, cells: [last.cell], what_if: changes });
  const w = e.what_if;
  if (!scenarios.length) addScenario(describe(last.cell), { mean: e.prediction, median: e.median, low: e.low, high: e.high }); // to compare with
  const unknown = (w.changes ?? []).filter(c => c.new).map(c => `; no ${c.mode} has ${c.new.join(" or ")}`);
  addScenario(`${describe(last.cell)}; ${changes.join(", ")}${unknown.join("")}`, { mean: w.prediction, median: w.median, low: w.low, high: w.high });
}

function addScenario(label, numbers) {
  scenarios.push({ label, ...numbers });
  const first = scenarios[0];
  $("scenario-table").replaceChildren(table("Differences are to the first scenario", ["Scenario", "Mean", "Difference", "Median", "90 % from", "to"],
    scenarios.map(s => [s.label, s.mean, s.mean - first.mean, s.median, s.low, s.high])));
  $("scenarios").hidden = false;
}

async function showSeries(cell, number) {
  $("series").hidden = !model.time;
  if (!model.time) return;
  const others = Object.fromEntries(model.modes.filter(m => m.mode !== model.time).map(m => [m.mode, cell[m.mode]]));
  const { periods, observed } = await get(`models/${model.model}/history`, others);
  const points = periods.map(p => ({ ...p, chosen: p.id === cell[model.time] }));
  const shown = points.slice(-400);
  const { predictions } = await post("predict", { model: model.model, cells: shown.map(p => ({ ...cell, [model.time]: p.id })) });
  for (const [i, p] of predictions.entries()) Object.assign(shown[i], { mean: p.mean, low: p.quantiles[0].value, high: p.quantiles[1].value });
  if (model.forecasts) shown.push(...await forecast(others));
  if (number !== turn) return;
  $("series-chart").replaceChildren(series(shown, model.target));
  const box = document.createElement("div");
  box.className = "wide";
  box.append(table(`${model.target} of ${describe(others)}`, [model.time, ...(observed ? ["Observed"] : []), "Mean", "90 % from", "to"],
    shown.map(p => [p.id, ...(observed ? [p.value ?? ""] : []), p.mean, p.low, p.high])));
  $("series-table").replaceChildren(box);
}

// forecast returns the periods after the data, none if the cell has no series.
async function forecast(cell) {
  $("series-note").textContent = "";
  try {
    const { periods } = await post("forecast", { model: model.model, cell, horizon: Math.min(12, model.periods) });
    return periods.map(p => ({ id: p.id, mean: p.mean, low: p.quantiles[0].value, high: p.quantiles.at(-1).value, future: true }));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    $("series-note").textContent = "No forecast: " + error.message;
    return [];
  }
}

$("token-form").addEventListener("submit", event => {
  event.preventDefault();
  setToken($("token").value.trim());
  $("token").value = "";
  attempt(start);
});
$("model").addEventListener("change", chooseModel);
$("cell").addEventListener("submit", event => {
  event.preventDefault();
  attempt(() => predict());
});
$("update-form").addEventListener("submit", event => {
  event.preventDefault();
  attempt(() => update(take));
});
$("undo").addEventListener("click", () => attempt(() => update(undo)));
$("keep").addEventListener("click", () => addScenario(describe(last.cell), { mean: last.p.mean, median: last.p.median, low: last.p.quantiles[0].value, high: last.p.quantiles[3].value }));
$("forget").addEventListener("click", () => {
  scenarios = [];
  $("scenarios").hidden = true;
  $("keep").focus();
});
$("changes").addEventListener("submit", event => {
  event.preventDefault();
  attempt(predictChanges);
});
attempt(start);
setInterval(() => {
  if (models.length && document.visibilityState === "visible") showMonitor().catch(() => {}); // the next request shows the problem
}, 5000);
