"use strict";
// Everything here is a convenience: without it the page shows every table, in the order of the MRR.

const root = document.documentElement;

// Theme: the system's, unless the address (#dark, #light) or the reader says otherwise.
function theme(wanted) {
  if (wanted) root.dataset.theme = wanted;
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const button = document.getElementById("theme");
  const now = root.dataset.theme || system;
  button.hidden = false;
  button.textContent = now === "dark" ? "light" : "dark";
  button.setAttribute("aria-label", "switch to " + button.textContent + " colours");
}
const asked = location.hash.slice(1);
theme(asked === "dark" || asked === "light" ? asked : "");
document.getElementById("theme").addEventListener("click", (event) => theme(event.target.textContent));

// One filter at a time.
for (const group of document.querySelectorAll(".group")) {
  const bar = group.querySelector(".switch");
  const buttons = bar.querySelectorAll("button");
  const show = (word) => {
    for (const part of group.querySelectorAll("[data-filter]")) {
      part.hidden = part.dataset.filter !== word || part.matches(".filter-title");
    }
    for (const button of buttons) button.setAttribute("aria-pressed", button.dataset.show === word);
  };
  for (const button of buttons) button.addEventListener("click", () => show(button.dataset.show));
  bar.hidden = false;
  show(buttons[0].dataset.show);
}

// Paper has no way to open a fold.
addEventListener("beforeprint", () => {
  for (const fold of document.querySelectorAll("details")) fold.open = true;
});

// Sorting by a column: numbers by value, text by the alphabet; a second click turns the order.
const key = (row, i) => {
  const cell = row.cells[i];
  return "v" in cell.dataset ? Number(cell.dataset.v) : cell.textContent;
};
const order = (a, b) => {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a !== typeof b) return typeof a === "number" ? 1 : -1;
  return a.localeCompare(b);
};
for (const table of document.querySelectorAll(".sortable")) {
  table.classList.add("sorts");
  const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
  heads.forEach((head, i) => {
    head.tabIndex = 0;
    const sort = () => {
      const first = head.classList.contains("n") ? "descending" : "ascending";
      const other = first === "descending" ? "ascending" : "descending";
      const direction = head.getAttribute("aria-sort") === first ? other : first;
      heads.forEach((h) => h.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", direction);
      const sign = direction === "ascending" ? 1 : -1;
      const body = table.tBodies[0];
      body.append(...[...body.rows].sort((a, b) => sign * order(key(a, i), key(b, i))));
    };
    head.addEventListener("click", sort);
    head.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      sort();
    });
  });
}

// Values under the pointer: quicker than the browser's own titles, and they work with a finger.
const tip = document.getElementById("tip");
for (const place of document.querySelectorAll(".column, .tip")) {
  const title = place.querySelector("title");
  const text = title.textContent;
  title.remove();
  place.setAttribute("aria-label", text);
  const move = (event) => {
    tip.textContent = text;
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    const x = event.clientX + 14 + width > innerWidth ? event.clientX - 14 - width : event.clientX + 14;
    tip.style.left = Math.max(4, x) + "px";
    tip.style.top = Math.max(4, event.clientY - height - 12) + "px";
  };
  place.addEventListener("pointerenter", move);
  place.addEventListener("pointermove", move);
  place.addEventListener("pointerleave", () => { tip.hidden = true; });
}
