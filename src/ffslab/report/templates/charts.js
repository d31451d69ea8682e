// Charts are drawn by Vega-Lite when they come into view, the rest when the browser is idle, and
// all again when the theme changes. A chart's data are columns; its colours stand for variables of the theme.
(function () {
  var PAINT = {{ paint | json }}, CONFIG = {{ chart_config | json }};
  var charts = Array.from(document.querySelectorAll(".vega")), drawn = new Map();
  var sources = new Map(charts.map(function (chart) { return [chart, chart.querySelector("script").textContent]; }));
  function rows(columns) {
    var names = Object.keys(columns), count = names.length ? columns[names[0]].length : 0, made = [];
    for (var number = 0; number < count; number++) {
      var row = {};
      names.forEach(function (name) { row[name] = columns[name][number]; });
      made.push(row);
    }
    return made;
  }
  function painted(text) {
    var style = getComputedStyle(document.documentElement);
    return text.replace(/#0[0-9a-f]{5}/g, function (stand) { return PAINT[stand] ? style.getPropertyValue("--" + PAINT[stand]).trim() : stand; });
  }
  function csv(data) {
    var names = Object.keys(data).filter(function (name) { return !/^(paint|fill|dash|shape)$/.test(name); });
    var lines = [names].concat(rows(data).map(function (row) { return names.map(function (name) { return row[name] === null ? "" : row[name]; }); }));
    return lines.map(function (line) { return line.map(function (v) { return '"' + String(v).replace(/"/g, '""') + '"'; }).join(","); }).join("\n") + "\n";
  }
  function link(name, type, text, chart) {
    var made = document.createElement("a");
    made.textContent = name;
    made.download = chart.id + "." + name.toLowerCase();
    made.href = URL.createObjectURL(new Blob([text], { type: type }));
    return made;
  }
  function draw(chart) {
    if (drawn.get(chart)) drawn.get(chart).finalize();
    var told = JSON.parse(painted(sources.get(chart)));
    var spec = Object.assign({}, told.spec, { config: JSON.parse(painted(JSON.stringify(CONFIG))), datasets: {} });
    Object.keys(told.data).forEach(function (name) { spec.datasets[name] = rows(told.data[name]); });
    // As many panels beside each other as have room with their names.
    if (spec.facet) spec.columns = Math.max(1, Math.floor(chart.clientWidth / (spec.spec.width + 110)));
    if (!spec.data) spec.data = { name: Object.keys(told.data)[0] };
    var place = document.createElement("div");
    drawn.set(chart, null);
    vegaEmbed(place, spec, { mode: "vega-lite", renderer: "svg", actions: false, tooltip: tooltip }).then(function (made) {
      drawn.set(chart, made.view);
      chart.replaceChildren(place, saves);
    });
    var saves = document.createElement("span");
    saves.className = "saves";
    ["CSV", "SVG"].forEach(function (name) {
      var button = document.createElement("button");
      button.type = "button";
      button.textContent = name;
      button.title = "save as " + name;
      saves.appendChild(button);
      button.addEventListener("click", function () {
        var main = told.data[Object.keys(told.data)[0]];
        if (name === "CSV") link(name, "text/csv", csv(main), chart).click();
        else drawn.get(chart).toSVG().then(function (text) { link(name, "image/svg+xml", text, chart).click(); });
      });
    });
  }
  var tip = document.createElement("div");
  tip.className = "tip";
  document.body.appendChild(tip);
  function tooltip(_, event, __, value) {
    tip.hidden = value === null || value === undefined || value === "";
    if (tip.hidden) return;
    tip.textContent = typeof value === "object" ? Object.keys(value).filter(function (key) { return value[key]; }).map(function (key) { return key + ": " + value[key]; }).join("\n") : String(value);
    tip.style.left = Math.min(event.pageX + 14, scrollX + innerWidth - tip.offsetWidth - 8) + "px";
    tip.style.top = event.pageY + 14 + "px";
  }
  tip.hidden = true;
  var seen = new IntersectionObserver(function (entries) {
    entries.forEach(function (entry) {
      if (!entry.isIntersecting || drawn.has(entry.target)) return;
      draw(entry.target);
    });
  }, { rootMargin: "400px" });
  charts.forEach(function (chart) { seen.observe(chart); });
  // The others follow when there is nothing else to do, so that print finds them.
  function rest() {
    var next = charts.find(function (chart) { return !drawn.has(chart); });
    if (!next) return;
    draw(next);
    requestIdleCallback(rest);
  }
  requestIdleCallback(rest, { timeout: 500 });
  function again() { Array.from(drawn.keys()).forEach(draw); }
  new MutationObserver(again).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
})();
