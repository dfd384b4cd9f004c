// The form that takes an observed value of the shown cell into the served model, or out of it.

import { get, post } from "./api.js";
import { format, table } from "./charts.js";

const $ = id => document.getElementById(id);
let taken = null; // the row that can be taken out again

// showUpdate shows the form if the model takes in rows, without results of another cell.
export function showUpdate(model) {
  taken = null;
  $("update").hidden = !model.updates;
  $("undo").hidden = true;
  $("moved").textContent = "";
  $("moved-table").replaceChildren();
}

// take sends the observed value of the cell of the prediction before, and shows how the
// prediction of the same cell moved. predict predicts the cell again.
export async function take(model, before, predict) {
  const row = { cell: before.cell, value: Number($("value").value) };
  await post("update", { model: model.model, rows: [row], late: true });
  if (!await show(model, before, predict, `${model.target} ${format(row.value)} was added to the model.`)) return;
  taken = row;
  $("undo").hidden = false;
  $("value").value = "";
}

// undo takes the row out again.
export async function undo(model, before, predict) {
  const row = taken;
  await post("update", { model: model.model, remove: [row] });
  await show(model, before, predict, `${model.target} ${format(row.value)} was taken out again.`);
  $("value").focus(); // the button is gone
}

async function show(model, before, predict, done) {
  Object.assign(model, await get("models/" + model.model)); // it has another version, and perhaps more ids
  const after = await predict();
  if (!after) return false; // another cell was chosen meanwhile
  const numbers = p => [p.mean, p.median, p.quantiles[0].value, p.quantiles.at(-1).value, p.sd_model];
  const [was, is] = [numbers(before.p), numbers(after.p)];
  $("moved").textContent = `${done} The mean moved from ${format(was[0])} to ${format(is[0])}.`;
  $("moved-table").replaceChildren(table("How the prediction moved", ["", "Before", "After", "Change"],
    ["Mean", "Median", "5 % quantile", "95 % quantile", "Standard deviation due to the model"].map((name, i) => [name, was[i], is[i], is[i] - was[i]])));
  return true;
}
