// Tabs, colors, and the line at the top.
(() => {
  const tabs = [...document.querySelectorAll("[role=tab]")];
  function show(tab) {
    for (const other of tabs) {
      const isShown = other === tab;
      other.setAttribute("aria-selected", String(isShown));
      other.tabIndex = isShown ? 0 : -1;
      document.getElementById(other.getAttribute("aria-controls")).hidden = !isShown;
    }
    redrawAll();
  }
  tabs.forEach((tab, at) => {
    tab.addEventListener("click", () => show(tab));
    tab.addEventListener("keydown", (event) => {
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      const next = tabs[(to + tabs.length) % tabs.length];
      next.focus();
      show(next);
    });
  });

  const scheme = document.getElementById("scheme");
  function setDark(dark) {
    document.documentElement.classList.toggle("dark", dark);
    scheme.textContent = dark ? "Light" : "Dark";
    redrawAll();
  }
  scheme.addEventListener("click", () => setDark(!isDark()));
  const wish = window.matchMedia("(prefers-color-scheme: dark)");
  wish.addEventListener("change", () => setDark(wish.matches));

  const when = new Date(Number(BigInt(data.zeroUnixNs) / 1000000n)).toISOString().replace("T", " ").slice(0, 19);
  const parts = [`process ${data.process}, started ${when} UTC`, `${formatTime(timeline.last - timeline.first)} recorded`];
  if (data.leftOut > 0) parts.push(`${data.leftOut} spans shorter than ${formatTime(data.shortestNs)} are not drawn`);
  if (data.dropped > 0) parts.push(`${data.dropped} records were dropped`);
  document.getElementById("summary").textContent = parts.join(" · ");
  const wanted = document.getElementById(`tab-${location.hash.slice(1)}`);
  setDark(wish.matches);
  show(wanted || tabs[0]);
  window.addEventListener("resize", redrawAll);
})();
