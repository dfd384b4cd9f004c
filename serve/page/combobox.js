// A text field with a list of suggestions, after the combobox pattern of the ARIA
// Authoring Practices: the list opens while typing or by the arrow keys, Enter takes the
// chosen suggestion, Escape closes the list.

// combobox returns an element with the field. suggest(text) returns a promise of ids.
export function combobox(id, label, value, suggest) {
  const box = document.createElement("div");
  box.className = "combobox";
  const caption = document.createElement("label");
  caption.htmlFor = id;
  caption.textContent = label;
  const input = document.createElement("input");
  Object.assign(input, { id, value, autocomplete: "off", required: true, spellcheck: false });
  const list = document.createElement("ul");
  list.id = id + "-list";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", label + ": suggestions");
  list.hidden = true;
  input.setAttribute("role", "combobox");
  input.setAttribute("aria-autocomplete", "list");
  input.setAttribute("aria-controls", list.id);
  input.setAttribute("aria-expanded", "false");
  box.append(caption, input, list);

  let chosen = -1, asked = 0;

  function close() {
    asked++; // suggestions that were asked for come too late
    list.hidden = true;
    chosen = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function choose(at) {
    const items = list.children;
    if (!items.length) return;
    chosen = (at + items.length) % items.length;
    for (const [i, item] of [...items].entries()) item.setAttribute("aria-selected", String(i === chosen));
    input.setAttribute("aria-activedescendant", items[chosen].id);
    items[chosen].scrollIntoView({ block: "nearest" });
  }

  function take(text) {
    input.value = text;
    close();
    input.dispatchEvent(new Event("change", { bubbles: true }));
  }

  async function open() {
    const number = ++asked;
    let ids = [];
    try {
      ids = await suggest(input.value);
    } catch {
      return close(); // the next request shows the problem
    }
    if (number !== asked || document.activeElement !== input) return;
    list.replaceChildren(...ids.map((text, i) => {
      const item = document.createElement("li");
      item.id = `${list.id}-${i}`;
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", "false");
      item.textContent = text;
      item.addEventListener("pointerdown", event => {
        event.preventDefault();
        take(text);
      });
      return item;
    }));
    chosen = -1;
    input.removeAttribute("aria-activedescendant");
    list.hidden = ids.length === 0;
    input.setAttribute("aria-expanded", String(!list.hidden));
  }

  input.addEventListener("input", open);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", async event => {
    switch (event.key) {
      case "ArrowDown":
      case "ArrowUp":
        event.preventDefault();
        if (list.hidden) await open();
        choose(event.key === "ArrowDown" ? chosen + 1 : (chosen < 0 ? -1 : chosen - 1));
        break;
      case "Enter":
        if (!list.hidden && chosen >= 0) {
          event.preventDefault();
          take(list.children[chosen].textContent);
        } else close();
        break;
      case "Escape":
        if (!list.hidden) event.preventDefault();
        close();
    }
  });
  return { box, input };
}
