// The coverage monitor: a table that is renewed every few seconds while the page is shown.

import { get } from "./api.js";
import { format, table } from "./charts.js";

const percent = v => (100 * v).toFixed(1) + " %";

export async function showMonitor() {
  const { models } = await get("monitor");
  const area = document.getElementById("monitor"), alarms = [];
  const tables = models.map(m => {
    const rows = m.groups.slice(0, 50).map(g => {
      const state = document.createElement("span");
      state.textContent = g.alarm ? "alarm: " + g.alarm : g.window < 100 ? "too few outcomes" : "as expected";
      if (g.alarm) {
        state.className = "alarm";
        alarms.push(`${m.model}, ${g.group}: ${g.alarm}`);
      }
      return [g.group, g.total, percent(g.coverage), `${percent(g.low)} to ${percent(g.high)}`, format(g.bias), format(g.ratio), state];
    });
    return rows.length ? table(`Model ${m.model}: outcomes inside of ${percent(m.level)} intervals`, ["Group", "Outcomes", "Inside", "Expected", "Bias in sd", "Actual / predicted", "State"], rows, [0, 6]) : null;
  }).filter(Boolean);
  const note = document.createElement("p");
  note.textContent = "No outcomes yet. Report observed values by POST /outcomes to see whether the intervals hold.";
  area.replaceChildren(...(tables.length ? tables : [note]));
  const message = alarms.length ? "Alarm: " + alarms.join("; ") : "";
  const status = document.getElementById("alarms");
  if (status.textContent !== message) status.textContent = message;
  status.classList.toggle("alarm", alarms.length > 0);
}
