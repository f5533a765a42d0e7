"use strict";

// Tables that are wider than their box say so, and fade where there is more to the right.
function mark(box) {
  box.classList.toggle("wide", box.scrollWidth > box.clientWidth + 1);
  box.classList.toggle("more", box.scrollWidth > box.clientWidth + box.scrollLeft + 1);
}

const sizes = new ResizeObserver((entries) => entries.forEach((entry) => mark(entry.target)));
for (const box of document.querySelectorAll(".box")) {
  sizes.observe(box);
  box.addEventListener("scroll", () => mark(box), { passive: true });
}

// Sorts the tables: a first press on a heading sorts upwards (numbers downwards), the next one the other way.
function compare(one, other, isNumber) {
  return isNumber ? Number(one) - Number(other) : one < other ? -1 : one > other ? 1 : 0;
}

function sort(table, heading) {
  const headings = Array.from(heading.parentElement.children);
  const column = headings.indexOf(heading);
  const isNumber = heading.classList.contains("number");
  const before = heading.getAttribute("aria-sort");
  const upwards = before === "none" ? !isNumber : before === "descending";
  const body = table.tBodies[0];
  const rows = Array.from(body.rows).map((row) => [row, row.cells[column].dataset.order]);
  const known = rows.filter(([, order]) => order !== undefined);
  const unknown = rows.filter(([, order]) => order === undefined);
  known.sort(([, one], [, other]) => (upwards ? 1 : -1) * compare(one, other, isNumber));
  body.append(...[...known, ...unknown].map(([row]) => row));
  for (const each of headings) {
    each.setAttribute("aria-sort", each === heading ? (upwards ? "ascending" : "descending") : "none");
  }
}

for (const table of document.querySelectorAll("table.sortable")) {
  for (const button of table.querySelectorAll("thead button")) {
    button.addEventListener("click", () => sort(table, button.parentElement));
  }
}
