"use strict";
// Without this script the page shows all there is; the script leads from an instruction to those that it waits for, and from source
// lines to their instructions.
(function () {
  const svgNS = "http://www.w3.org/2000/svg";
  let picked = [];

  function clear() {
    for (const row of picked) row.classList.remove("picked", "def");
    picked = [];
    for (const svg of document.querySelectorAll(".arrows")) svg.replaceChildren();
  }

  function mark(row, name) {
    if (!row) return;
    row.classList.add(name);
    picked.push(row);
  }

  // show scrolls a pane so that a row is in view, without moving the page.
  function show(row) {
    const pane = row && row.closest(".pane");
    if (!pane) return;
    const top = row.getBoundingClientRect().top - pane.getBoundingClientRect().top, height = pane.clientHeight;
    if (top < 0 || top > height - 40) pane.scrollTop = Math.max(0, pane.scrollTop + top - height / 3);
  }

  function arrow(svg, from, to, share) {
    const pane = svg.parentElement, box = pane.getBoundingClientRect();
    const middle = function (row) {
      const r = row.querySelector("code").getBoundingClientRect();
      return [r.left - box.left + pane.scrollLeft - 6, (r.top + r.bottom) / 2 - box.top + pane.scrollTop];
    };
    const [x1, y1] = middle(from), [x2, y2] = middle(to);
    const bend = Math.min(x1, x2) - 14 - Math.min(60, Math.abs(y2 - y1) / 8);
    const path = document.createElementNS(svgNS, "path");
    path.setAttribute("d", `M${x1},${y1} C${bend},${y1} ${bend},${y2} ${x2},${y2} m-6,-4 l6,4 l-6,4`);
    const label = document.createElementNS(svgNS, "text");
    label.setAttribute("x", bend);
    label.setAttribute("text-anchor", "end");
    label.setAttribute("y", (y1 + y2) / 2);
    label.textContent = share;
    svg.append(path, label);
  }

  // pickInstruction marks an instruction, its source line and what it waits for: data-defs holds id=share pairs.
  function pickInstruction(row) {
    clear();
    mark(row, "picked");
    const kernel = row.closest(".kernel");
    const line = row.dataset.line && document.getElementById(row.dataset.line);
    mark(line, "picked");
    show(line);
    const svg = kernel.querySelector(".arrows");
    for (const pair of (row.dataset.defs || "").split(" ")) {
      const [id, share] = pair.split("=");
      const def = id && document.getElementById(id);
      if (!def || def === row) continue;
      mark(def, "def");
      arrow(svg, row, def, share);
    }
  }

  // pickTwin marks a line of a comparison and the line that it was, or has become.
  function pickTwin(row) {
    clear();
    mark(row, "picked");
    const twin = document.getElementById(row.dataset.twin);
    mark(twin, "picked");
    show(twin);
  }

  function pickLine(row) {
    clear();
    mark(row, "picked");
    const kernel = row.closest(".kernel");
    const instructions = kernel.querySelectorAll(`.sass tr[data-line="${CSS.escape(row.id)}"]`);
    for (const r of instructions) mark(r, "picked");
    show(instructions[0]);
  }

  function pick(row) {
    if (row.closest("table.sass")) pickInstruction(row);
    else if (row.dataset.twin) pickTwin(row);
    else pickLine(row);
  }

  document.addEventListener("click", function (event) {
    const link = event.target.closest("a[href^='#']");
    const row = link ? document.getElementById(link.hash.slice(1)) : event.target.closest(".pane tr");
    if (!row || !row.closest(".pane")) return;
    if (link) {
      event.preventDefault();
      row.closest(".code").scrollIntoView({ block: "start" });
      show(row);
      row.focus({ preventScroll: true });
    }
    pick(row);
  });
  document.addEventListener("keydown", function (event) {
    if (event.key === "Escape") return clear();
    const row = document.activeElement && document.activeElement.closest(".pane tr");
    if (!row) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      return pick(row);
    }
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    const rows = [...row.closest(".pane").querySelectorAll("tr[tabindex]")];
    const next = rows[rows.indexOf(row) + (event.key === "ArrowDown" ? 1 : -1)];
    if (!next) return;
    next.focus({ preventScroll: true });
    show(next);
    pick(next);
  });
})();
