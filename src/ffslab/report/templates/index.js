// Two ticked runs give the command that compares them, the older one first, and its page if that is there.
(function () {
  var box = document.getElementById("compare");
  if (!box) return;
  var data = JSON.parse(box.querySelector("script").textContent), ticks = Array.from(document.querySelectorAll("#runs input"));
  var told = box.querySelector("span"), code = box.querySelector("code"), copy = box.querySelector("button"), page = box.querySelector("a");
  function show() {
    var ticked = ticks.filter(function (tick) { return tick.checked; }).sort(function (a, b) { return a.value - b.value; });
    var enough = ticked.length > 1;
    box.hidden = !ticked.length;
    code.hidden = copy.hidden = !enough;
    told.textContent = !enough ? "Tick a second run to compare them." : ticked.some(function (tick) { return tick.dataset.study !== ticked[0].dataset.study; }) ? "Runs of different studies may have no case in common:" : "";
    code.textContent = [data.command].concat(ticked.map(function (tick) { return tick.dataset.word; }), data.html).join(" ");
    var address = data.pages[ticked.map(function (tick) { return tick.value; }).join(" ")];
    page.hidden = !address;
    if (address) page.href = address; else page.removeAttribute("href");
  }
  ticks.forEach(function (tick) { tick.addEventListener("change", show); });
  copy.addEventListener("click", function () {
    if (navigator.clipboard) navigator.clipboard.writeText(code.textContent).catch(function () {});
    copy.textContent = "copied";
    setTimeout(function () { copy.textContent = "copy"; }, 900);
  });
  // A browser keeps ticks when it loads the page again.
  addEventListener("pageshow", show);
})();
