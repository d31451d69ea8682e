// The scoreboard's switches: each cell shows the worst of the values at the chosen places. The page
// has the board over all places without this; `Board` in first/board.py says what is best.
(function () {
  var DARKEST = Math.log(100), SAME = 1.02, LIGHTEST = 0.3, DECADES = 4;
  function heat(value, best, higher) {
    if (value === best) return 0;
    if (value <= 0 || best <= 0) return 1;
    return Math.min(Math.max(Math.log(higher ? best / value : value / best) / DARKEST, 0), 1);
  }
  function added(values) {
    if (!values.length) return null;
    var whole = 0, count = 0, kinds = new Map();
    values.forEach(function (v) {
      whole += v[1];
      v[2].forEach(function (kind) { count += kind[1]; kinds.set(kind[0], (kinds.get(kind[0]) || 0) + kind[1]); });
    });
    var most = Array.from(kinds).sort(function (a, b) { return b[1] - a[1]; });
    function grouped(number) { return number.toLocaleString("en-US"); }
    return { value: count, text: count ? grouped(count) + " of " + grouped(whole) : grouped(whole), place: "", best: !count,
      note: most.map(function (kind) { return most.length > 1 ? kind[0] + " (" + grouped(kind[1]) + ")" : kind[0]; }).join(", "),
      heat: count ? Math.max(LIGHTEST, 1 + Math.log10(count / whole) / DECADES) : 0 };
  }
  function column(data, number, chosen) {
    var own = data.columns[number].cells.map(function (values) { return values.filter(function (v) { return chosen.has(v[0]); }); });
    if (data.columns[number].tally) return own.map(added);
    var higher = data.columns[number].higher, counts = {}, usual = "";
    var at = own.map(function (values) { return values.map(function (v) { return v[0]; }).sort().join(); });
    at.forEach(function (places) { if (places) counts[places] = (counts[places] || 0) + 1; });
    function weight(places) { return counts[places] * 1e6 + places.split(",").length; }
    Object.keys(counts).forEach(function (places) { if (!usual || weight(places) > weight(usual)) usual = places; });
    var several = Object.keys(counts).length > 1 || usual.includes(",");
    var worst = own.map(function (values) {
      return values.reduce(function (found, v) { return !found || (higher ? v[1] < found[1] : v[1] > found[1]) ? v : found; }, null);
    });
    var rivals = own.map(function (values, row) { return at[row] === usual && values.every(function (v) { return v[5]; }); });
    var fit = worst.filter(function (v, row) { return v && rivals[row]; }).map(function (v) { return v[1]; });
    var best = fit.length > 1 ? (higher ? Math.max : Math.min).apply(null, fit) : null;
    if (higher && best === 0) best = null;
    return worst.map(function (v, row) {
      if (!v) return null;
      var near = best !== null && (v[1] === best || (v[1] > 0 && best > 0 && Math.max(v[1] / best, best / v[1]) <= SAME));
      return { value: v[1], text: v[2] + (v[4] ? "†" : ""), memory: v[3], place: several ? data.names[v[0]] : "",
        best: near && rivals[row], partial: at[row] !== usual, heat: best === null ? null : heat(v[1], best, higher) };
    });
  }
  function show(cell, shown) {
    cell.className = !shown ? "none" : (shown.best ? "best" : "") + (shown.memory ? " memory" : "") + (shown.partial ? " partial" : "");
    cell.textContent = shown ? shown.text : "–";
    if (shown && shown.note) cell.appendChild(document.createElement("small")).textContent = shown.note;
    cell.title = shown ? shown.place : "";
    if (shown) cell.dataset.order = shown.value; else delete cell.dataset.order;
    cell.style.setProperty("--heat", shown && shown.heat !== null ? shown.heat.toFixed(3) : "");
  }
  function text(table, separator) {
    return Array.from(table.rows).filter(function (row) { return !row.hidden; }).map(function (row) {
      return Array.from(row.cells).map(function (cell) {
        var shown = cell.textContent.replace(/\s+/g, " ").trim();
        return separator === "," ? '"' + shown.replace(/"/g, '""') + '"' : shown.replace(/\|/g, "\\|");
      }).join(separator);
    });
  }
  function markdown(table) {
    var lines = text(table, " | ").map(function (line) { return "| " + line + " |"; });
    lines.splice(1, 0, "|" + "---|".repeat(table.rows[0].cells.length));
    return lines.join("\n") + "\n";
  }
  document.querySelectorAll(".board").forEach(function (board) {
    var told = board.querySelector("script"), data = told && JSON.parse(told.textContent), table = board.querySelector("table");
    var rows = Array.from(table.tBodies[0].rows), switches = Array.from(board.querySelectorAll("select"));
    switches.forEach(function (one) {
      one.addEventListener("change", function () {
        var chosen = new Set(data.places.map(function (_, number) { return number; }).filter(function (number) {
          return switches.every(function (axis) { return axis.selectedIndex === 0 || data.places[number][axis.dataset.axis] === axis.value; });
        }));
        data.columns.forEach(function (_, number) {
          column(data, number, chosen).forEach(function (shown, row) { show(rows[row].cells[number + 1], shown); });
        });
      });
    });
    board.querySelectorAll("[data-copy]").forEach(function (button) {
      button.addEventListener("click", function () {
        var told = button.dataset.copy === "md" ? markdown(table) : text(table, ",").join("\n") + "\n";
        board.dataset.copied = told;
        if (navigator.clipboard) navigator.clipboard.writeText(told).catch(function () {});
        var name = button.textContent;
        button.textContent = "copied";
        setTimeout(function () { button.textContent = name; }, 900);
      });
    });
  });
})();
