"use strict";
(() => {
  const lists = JSON.parse(document.getElementById("entities").textContent);
  const mode = document.getElementById("mode"), query = document.getElementById("query");
  if (!mode || !lists) return;
  const status = document.getElementById("status"), table = document.getElementById("found"), detail = document.getElementById("detail");
  const most = 20;
  let column = 3, falling = true;

  lists.forEach((list, i) => mode.append(new Option(list.mode, i)));
  const show = (v) => v === null ? "–" : Number(v).toLocaleString("en", { maximumSignificantDigits: 4 });
  const compare = (a, b) => typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : (a === null) - (b === null) || a - b;

  const cell = (name, text) => {
    const e = document.createElement(name);
    e.textContent = text;
    return e;
  };
  const row = (entity) => {
    const tr = document.createElement("tr"), th = document.createElement("th"), button = cell("button", entity[0]);
    th.scope = "row";
    button.type = "button";
    button.addEventListener("click", () => choose(entity));
    th.append(button);
    tr.append(th, ...entity.slice(1, 5).map((v) => cell("td", show(v))));
    return tr;
  };

  const list = () => lists[mode.value];
  const find = () => {
    const words = query.value.toLowerCase().trim();
    const found = list().ids.filter((e) => e[0].toLowerCase().includes(words));
    found.sort((a, b) => (falling ? -1 : 1) * compare(a[column], b[column]));
    table.tBodies[0].replaceChildren(...found.slice(0, most).map(row));
    const all = list().ids.length < list().of ? ` (the ${list().ids.length} with the most rows of ${list().of})` : "";
    status.textContent = `${found.length} of ${list().ids.length} ids of ${list().mode}${all}` + (found.length > most ? `, the first ${most} are listed` : "");
    return found;
  };

  const choose = (entity) => {
    const near = list().ids.filter((e) => e !== entity && e[5] && entity[5]).map((e) => [e, Math.hypot(...e[5].map((v, k) => v - entity[5][k])) * list().unit]);
    near.sort((a, b) => a[1] - b[1]);
    detail.replaceChildren(cell("h3", `${list().mode} ${entity[0]}`),
      cell("p", `Effect ${show(entity[1])}; ${show(entity[2])} ${list().target} at an average cell; ${show(entity[3])} training rows with the mean ${show(entity[4])}.`));
    if (near.length) {
      const ul = document.createElement("ul");
      for (const [e, d] of near.slice(0, 5)) ul.append(cell("li", `${e[0]}: distance ${show(d)}, mean ${show(e[4])}`));
      detail.append(cell("p", "Nearest by learned factors:"), ul);
    }
  };

  mode.addEventListener("change", () => { detail.replaceChildren(); find(); });
  query.addEventListener("input", find);
  document.getElementById("search").addEventListener("submit", (e) => {
    e.preventDefault();
    const found = find();
    if (found.length) choose(found[0]);
  });
  for (const button of table.tHead.querySelectorAll("button")) {
    button.addEventListener("click", () => {
      const chosen = Number(button.dataset.column);
      falling = chosen === column ? !falling : chosen !== 0;
      column = chosen;
      for (const th of table.tHead.rows[0].cells) th.setAttribute("aria-sort", "none");
      button.closest("th").setAttribute("aria-sort", falling ? "descending" : "ascending");
      find();
    });
  }
  find();
})();
