// The page is complete without this. It adds a switch between light and dark, tables that sort by
// a column and show only the rows with some words, and folded parts that open when something links
// to them, and for print.
(function () {
  var root = document.documentElement, button = document.getElementById("theme");
  var asked = new URLSearchParams(location.search).get("theme");
  if (asked === "light" || asked === "dark") root.dataset.theme = asked;
  if (button) {
    button.hidden = false;
    button.addEventListener("click", function () {
      var dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
      root.dataset.theme = dark ? "light" : "dark";
    });
  }

  var scales = { ns: 1, "µs": 1e3, ms: 1e6, s: 1e9, KiB: 1024, MiB: 1048576, GiB: 1073741824, kB: 1e3, MB: 1e6, GB: 1e9 };
  var less = /^(faster|fewer|shorter|smaller|lower|less)$/;
  // "2.00 times slower" is 2, "2.00 times faster" a half, "10 % fewer" 0.9; of a range the first.
  function factor(text) {
    if (/^(the )?same\b/.test(text)) return 1;
    var found = /^([\d.,]+)(?: to [\d.,]+)?\s(%|times) (\w+)/.exec(text);
    if (!found) return null;
    var word = found[3] === "to" ? text.replace(/\W+$/, "").split(" ").pop() : found[3];
    var size = Number(found[1].replace(/,/g, ""));
    if (found[2] === "times") return less.test(word) ? 1 / size : size;
    return less.test(word) ? 1 - size / 100 : 1 + size / 100;
  }
  function worth(cell) {
    if (cell.dataset.order) return Number(cell.dataset.order);
    var text = cell.textContent.trim(), ratio = factor(text);
    if (ratio !== null) return ratio;
    var found = /^[✓×]?\s*([-−+]?[\d,]+(?:\.\d+)?)\s*([A-Za-zµ]*)/.exec(text);
    return found ? Number(found[1].replace(/,/g, "").replace("−", "-")) * (scales[found[2]] || 1) : text;
  }
  var names = new Intl.Collator("en", { numeric: true });
  function sort(table, column, head) {
    var down = head.getAttribute("aria-sort") === "ascending";
    table.querySelectorAll("th[aria-sort]").forEach(function (other) { other.removeAttribute("aria-sort"); });
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    Array.from(table.tBodies).forEach(function (body) {
      var topics = Array.from(body.querySelectorAll("tr.topic"));
      var rows = Array.from(body.rows).filter(function (row) { return row.cells.length > column && !topics.includes(row); });
      var keyed = rows.map(function (row) { return [worth(row.cells[column]), row]; });
      keyed.sort(function (one, other) {
        var a = one[0], b = other[0];
        // What is no number comes last, whichever way the numbers go.
        if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
        // A dash is for what was not measured: it comes after what is a word.
        if ((a === "–") !== (b === "–")) return a === "–" ? 1 : -1;
        var order = typeof a === "number" ? a - b : names.compare(a, b);
        return down ? -order : order;
      });
      keyed.forEach(function (pair) { body.appendChild(pair[1]); });
    });
  }
  document.querySelectorAll("main table").forEach(function (table) {
    var head = table.tHead && table.tHead.rows[table.tHead.rows.length - 1];
    // Rows below headings belong to these: such a table keeps its order.
    if (!head || Array.from(table.tBodies).some(function (body) { return body.querySelectorAll("tr.topic").length > 1; })) return;
    Array.from(head.cells).forEach(function (cell, column) {
      if (cell.colSpan > 1) return;
      cell.tabIndex = 0;
      cell.classList.add("sorts");
      cell.title = "sort";
      cell.addEventListener("click", function () { sort(table, column, cell); });
      cell.addEventListener("keydown", function (event) {
        if (event.key === "Enter" || event.key === " ") { event.preventDefault(); sort(table, column, cell); }
      });
    });
  });

  document.querySelectorAll("input[type=search][aria-controls]").forEach(function (filter) {
    filter.addEventListener("input", function () {
      var words = filter.value.toLowerCase().split(/\s+/);
      Array.from(document.getElementById(filter.getAttribute("aria-controls")).tBodies[0].rows).forEach(function (row) {
        var text = row.textContent.toLowerCase();
        row.hidden = !words.every(function (word) { return text.includes(word); });
      });
    });
  });

  function unfold() {
    var target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (var part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
    var own = target.querySelector(":scope > details.part");
    if (own) own.open = true;
    target.scrollIntoView();
  }
  addEventListener("hashchange", unfold);
  document.querySelectorAll('a[href^="#"]').forEach(function (link) {
    link.addEventListener("click", function () { setTimeout(unfold, 0); });
  });
  unfold();
  addEventListener("beforeprint", function () {
    document.querySelectorAll("details:not([open])").forEach(function (part) { part.open = true; part.dataset.printed = ""; });
  });
  addEventListener("afterprint", function () {
    document.querySelectorAll("details[data-printed]").forEach(function (part) { part.open = false; delete part.dataset.printed; });
  });
})();
