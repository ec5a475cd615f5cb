"use strict";
const { tree: root, session } = JSON.parse(document.getElementById("data").textContent);
const map = document.getElementById("map"), place = document.getElementById("where");
const trail = [root], pen = document.createElement("canvas").getContext("2d");
pen.font = "12px system-ui, sans-serif";
let sought = "";
function size(bytes) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (bytes >= 1000 && unit < 4) { bytes /= 1000; unit += 1; }
  return (unit ? bytes.toFixed(1) : bytes) + " " + units[unit];
}
// Squarified treemap (Bruls, Huizing, van Wijk, 2000): rows whose rectangles are nearly square.
function layout(nodes, x, y, width, height, draw) {
  let total = nodes.reduce((sum, node) => sum + node.b, 0);
  let start = 0;
  while (start < nodes.length && total > 0 && width > 0 && height > 0) {
    const side = Math.min(width, height), scale = width * height / total;
    let end = start, sum = 0, best = Infinity;
    while (end < nodes.length) {
      const next = sum + nodes[end].b, row = next * scale / side;
      const worst = Math.max(row * row / (nodes[start].b * scale), nodes[end].b * scale / (row * row),
        nodes[start].b * scale / (row * row), row * row / (nodes[end].b * scale));
      if (worst > best) { break; }
      best = worst; sum = next; end += 1;
    }
    const depth = sum * scale / side;
    let offset = 0;
    for (let i = start; i < end; i += 1) {
      const length = nodes[i].b * scale / depth;
      if (width >= height) { draw(nodes[i], x, y + offset, depth, length); }
      else { draw(nodes[i], x + offset, y, length, depth); }
      offset += length;
    }
    if (width >= height) { x += depth; width -= depth; } else { y += depth; height -= depth; }
    total -= sum; start = end;
  }
}
function show(focused) {
  const here = trail[trail.length - 1];
  map.textContent = "";
  const count = here.f ?? 1, left = here.o ?? 0;
  place.textContent = (trail.slice(1).map((node) => node.n).join("/") || "/") + ": " + size(here.b)
    + " in " + count.toLocaleString("en") + (count === 1 ? " file" : " files")
    + (left ? ", " + left.toLocaleString("en") + " of them not moved" : "");
  showTrail();
  fill(here, [], 0, 0, map.clientWidth, map.clientHeight, focused);
  if (!focused) { map.querySelector("button")?.focus({ preventScroll: true }); }
}
// Draws the contents of a directory, and within a large box the contents of that one.
function fill(parent, path, left, top, width, height, focused) {
  const nodes = (parent.c ?? []).filter((node) => node.b > 0);
  layout(nodes, left, top, width, height, (node, x, y, width, height) => {
    if (width < 3 || height < 3) { return; }
    const inner = [...path, node];
    const box = document.createElement("button");
    box.type = "button";
    box.className = node.t + (node.s ? " " + node.s : "");
    box.style.left = x + "px"; box.style.top = y + "px";
    box.style.width = width + "px"; box.style.height = height + "px";
    const text = node.n + ", " + size(node.b) + (node.s ? ", " + node.s : "");
    box.title = text;
    box.setAttribute("aria-label", text);
    if (width > 40 && height > 18) {
      const label = document.createElement("span");
      label.textContent = pen.measureText(text).width < width - 12 ? text : node.n;
      box.append(label);
    }
    const place = [...trail.slice(1), ...inner];
    if (node.c) { box.addEventListener("click", () => { trail.push(...inner); show(); }); }
    else { box.addEventListener("click", () => mark(pathOf(place))); }
    if (sought && !holds(node, pathOf(place))) { box.classList.add("dim"); }
    map.append(box);
    if (node === focused) { box.focus(); }
    if (node.c && width > 60 && height > 50) {
      fill(node, inner, x + 3, y + 18, width - 6, height - 21, focused);
    }
  });
}
// The directories above the map, as links back up.
function showTrail() {
  const list = document.getElementById("trail");
  list.textContent = "";
  trail.forEach((node, index) => {
    const step = document.createElement("button");
    step.type = "button"; step.textContent = index ? node.n : "All";
    if (index === trail.length - 1) { step.setAttribute("aria-current", "true"); }
    step.addEventListener("click", () => {
      const below = trail[index + 1];
      trail.length = index + 1;
      show(below);
    });
    list.append(step);
  });
}
function pathOf(nodes) { return nodes.map((node) => node.n).join("/"); }
// Whether the search text is in a path, or in the name of something below it.
function holds(node, path) {
  return path.toLowerCase().includes(sought)
    || (node.c ?? []).some((child) => holds(child, path + "/" + child.n));
}
// Shows the row of a file.
function mark(path) {
  const link = document.querySelector("[data-path=\"" + CSS.escape(path) + "\"]");
  if (!link) { return; }
  document.querySelectorAll(".marked").forEach((row) => row.classList.remove("marked"));
  link.closest("details")?.setAttribute("open", "");
  link.closest("tr").classList.add("marked");
  link.focus();
  link.scrollIntoView({ block: "center" });
}
// Shows the place of a path on the map: the directory that holds it, or the last one that is shown.
function lead(path) {
  let node = root;
  const found = [root];
  for (const name of path.split("/")) {
    node = (node.c ?? []).find((child) => child.n === name);
    if (!node) { break; }
    found.push(node);
  }
  const target = found.length > 1 && !found[found.length - 1].c ? found.pop() : null;
  trail.splice(0, trail.length, ...found);
  show(target ?? undefined);
  document.getElementById("map-title").scrollIntoView();
}
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-path]");
  if (link && root) { event.preventDefault(); lead(link.dataset.path); }
});
const search = document.getElementById("search");
search?.addEventListener("input", () => {
  sought = search.value.toLowerCase();
  for (const row of document.querySelectorAll("table:not(#facts) tbody tr")) {
    row.hidden = !row.textContent.toLowerCase().includes(sought);
  }
  if (root) { show(search); }
});
// A click on a title sorts the rows, and another click reverses them.
for (const title of document.querySelectorAll("table:not(#facts) thead th")) {
  title.dataset.sorts = "";
  title.tabIndex = 0;
  const column = title.cellIndex, body = title.closest("table").tBodies[0];
  function sort() {
    const isNumber = title.classList.contains("number");
    const order = title.ariaSort ? (title.ariaSort === "ascending" ? -1 : 1) : isNumber ? -1 : 1;
    for (const other of title.parentNode.cells) { other.ariaSort = null; }
    title.ariaSort = order > 0 ? "ascending" : "descending";
    const rows = [...body.rows];
    rows.sort((one, other) => {
      const [a, b] = [one.cells[column], other.cells[column]];
      return order * (isNumber ? a.dataset.number - b.dataset.number
        : a.textContent.localeCompare(b.textContent, "en", { numeric: true }));
    });
    body.append(...rows);
  }
  title.addEventListener("click", sort);
  title.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") { sort(); event.preventDefault(); }
  });
}
function up() { if (trail.length > 1) { const left = trail.pop(); show(left); } }
document.addEventListener("keydown", (event) => {
  if (!map || event.target === search) { return; }
  const boxes = [...map.querySelectorAll("button")], at = boxes.indexOf(document.activeElement);
  if (event.key === "Escape" || event.key === "Backspace") { up(); event.preventDefault(); }
  else if (at >= 0 && (event.key === "ArrowRight" || event.key === "ArrowDown")) {
    boxes[(at + 1) % boxes.length].focus(); event.preventDefault();
  } else if (at >= 0 && (event.key === "ArrowLeft" || event.key === "ArrowUp")) {
    boxes[(at + boxes.length - 1) % boxes.length].focus(); event.preventDefault();
  }
});
const kinds = new Set(), states = new Set();
(function visit(node) {
  kinds.add(node.t);
  if (node.s) { states.add(node.s); }
  (node.c ?? []).forEach(visit);
})(root ?? { t: "folded" });
for (const kind of [...kinds, ...states]) {
  const item = document.createElement("span");
  item.className = (states.has(kind) ? "folded " : "") + kind; item.textContent = kind;
  document.getElementById("legend")?.append(item);
}
// The lanes of a session: appends, silences, and how much was appended or done by then.
function lanes() {
  const chart = document.getElementById("timeline"), width = chart.clientWidth;
  const whole = Math.max(session.seconds, 0.001), rem = chart.clientHeight / 11;
  chart.textContent = "";
  function bar(kind, start, end, top, height, title) {
    const box = document.createElement("div");
    const from = Math.min(Math.max(start, 0), whole), to = Math.min(Math.max(end, from), whole);
    box.className = kind; box.title = title;
    box.style.left = from / whole * width + "px"; box.style.top = top * rem + "px";
    box.style.width = (to - from) / whole * width + "px"; box.style.height = height * rem + "px";
    chart.append(box);
  }
  function label(text, left, top, end) {
    const box = document.createElement("span");
    box.textContent = text; box.style.top = top * rem + "px";
    box.style[end ? "right" : "left"] = left + "px";
    chart.append(box);
  }
  let sum = 0;
  const steps = session.progress.length
    ? session.progress.map((step) => [step.time, step.total > 0 ? step.completed / step.total : 0])
    : session.appends.map((append) => [append.end, (sum += append.bytes) / Math.max(session.appendedBytes, 1)]);
  label("appends", 4, 0); label("silences", 4, 3);
  label(session.progress.length ? "progress" : "appended bytes", 4, 6);
  for (const append of session.appends) {
    bar("append", append.start, append.end, 1.2, 1.5,
      append.name + (append.count > 1 ? " and " + (append.count - 1) + " more" : "") + ", " + size(append.bytes));
  }
  for (const wait of session.waits) {
    const length = wait.end - wait.start;
    bar(length > session.limits.hangTimeout / 3 ? "long" : "wait", wait.start, wait.end, 4.2, 1.5,
      "silent for " + length.toFixed(1) + " s");
  }
  steps.forEach(([time, part], index) => {
    const height = 2.6 * Math.min(Math.max(part, 0), 1);
    bar("amount", time, steps[index + 1]?.[0] ?? whole, 9.8 - height, height, (part * 100).toFixed(0) + " %");
  });
  label("0 s", 4, 9.8); label(session.seconds.toFixed(1) + " s", 4, 9.8, true);
}
function draw() {
  if (root) { show(trail[trail.length - 1]); }
  if (session) { lanes(); }
}
addEventListener("resize", draw);
draw();
