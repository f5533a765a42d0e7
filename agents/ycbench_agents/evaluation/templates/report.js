"use strict";

// A first press on a heading sorts upwards (numbers downwards), the next one the other way; dashes come last.
function sort(heading) {
  const headings = Array.from(heading.parentElement.children);
  const column = headings.indexOf(heading);
  const isNumber = heading.classList.contains("number");
  const before = heading.getAttribute("aria-sort");
  const upwards = before === "none" ? !isNumber : before === "descending";
  const body = heading.closest("table").tBodies[0];
  const order = (row) => row.cells[column].dataset.order;
  const compare = (a, b) => (isNumber ? a - b : a < b ? -1 : a > b ? 1 : 0);
  const rows = Array.from(body.rows);
  const known = rows.filter((row) => order(row) !== undefined);
  known.sort((a, b) => (upwards ? 1 : -1) * compare(order(a), order(b)));
  body.append(...known, ...rows.filter((row) => order(row) === undefined));
  for (const each of headings) {
    each.setAttribute("aria-sort", each === heading ? (upwards ? "ascending" : "descending") : "none");
  }
}

for (const button of document.querySelectorAll("thead button")) {
  button.addEventListener("click", () => sort(button.parentElement));
}
