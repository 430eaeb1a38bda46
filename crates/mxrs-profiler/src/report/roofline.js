// Operators against the limits of the machine.
(() => {
  const section = document.getElementById("roofline");
  const W = 1000, H = 420, LEFT = 110, BOTTOM = 40, TOP = 12;
  const known = data.roofline.filter((op) => op.ns > 0);
  if (known.length === 0) {
    section.append(element("p", {}, "No operator has recorded its floating-point operations and bytes."));
    return;
  }

  function plot(peaks) {
    const drawn = known.filter((op) => op.flops > 0 && op.bytes > 0);
    const ridge = peaks.flops / peaks.bytes;
    const xs = [...drawn.map((op) => op.flops / op.bytes), ridge * 4, ridge / 16];
    const ys = [...drawn.map((op) => op.flops / op.ns * 1e9), peaks.flops * 1.5, peaks.flops / 100];
    // A little more than the largest value, so that its dot is drawn whole.
    const bounds = (values) => [Math.floor(Math.log10(Math.min(...values))), Math.log10(Math.max(...values)) + .1];
    const [x0, x1] = bounds(xs), [y0, y1] = bounds(ys);
    const xOf = (v) => LEFT + (Math.log10(v) - x0) / (x1 - x0) * (W - LEFT - 12);
    const yOf = (v) => H - BOTTOM - (Math.log10(v) - y0) / (y1 - y0) * (H - BOTTOM - TOP);
    const label = "Operators by operations per byte and operations per second, below the limits of the machine";
    const svg = drawing("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": label });
    for (let power = x0; power <= x1; power += 1) {
      const x = xOf(10 ** power);
      svg.append(drawing("path", { class: "axis", d: `M${x} ${TOP}V${H - BOTTOM}` }));
      svg.append(drawing("text", { x, y: H - BOTTOM + 16, "text-anchor": "middle" }, String(+(10 ** power).toPrecision(3))));
    }
    for (let power = y0; power <= y1; power += 1) {
      const y = yOf(10 ** power);
      svg.append(drawing("path", { class: "axis", d: `M${LEFT} ${y}H${W}` }));
      svg.append(drawing("text", { x: LEFT - 6, y: y + 4, "text-anchor": "end" }, formatScaled(10 ** power, "FLOP/s")));
    }
    svg.append(drawing("text", { x: W / 2, y: H - 6, "text-anchor": "middle" }, "FLOP per byte"));
    const low = 10 ** x0;
    const roof = `M${xOf(low)} ${yOf(low * peaks.bytes)}L${xOf(ridge)} ${yOf(peaks.flops)}H${W - 12}`;
    svg.append(drawing("clipPath", { id: "inside" }));
    svg.lastChild.append(drawing("rect", { x: LEFT, y: 0, width: W - LEFT, height: H - BOTTOM }));
    svg.append(drawing("path", { class: "roof", d: roof, "clip-path": "url(#inside)" }));
    const longest = Math.max(...drawn.map((op) => op.ns));
    for (const op of drawn) {
      const r = 3 + 13 * Math.sqrt(op.ns / longest);
      const dot = drawing("circle", { cx: xOf(op.flops / op.bytes), cy: yOf(op.flops / op.ns * 1e9), r,
        fill: `hsl(${hueOf(op.name)} 60% 55% / .75)`, stroke: "var(--front)", "stroke-width": .5 });
      dot.append(drawing("title", {}, `${op.name}: ${formatTime(op.ns)}, ${(op.share * 100).toFixed(1)} % of the limit`));
      svg.append(dot);
    }
    return svg;
  }

  if (data.peaks) {
    section.append(element("p", { class: "help" }, `Limits: ${formatScaled(data.peaks.flops, "FLOP/s")}, `
      + `${formatScaled(data.peaks.bytes, "B/s")}. The area of a dot is its share of the time.`));
    section.append(plot(data.peaks));
  } else {
    section.append(element("p", { class: "help" }, "The limits of the machine were not measured, so there are no shares."));
  }
  const columns = ["Operator", "Calls", "Time", "FLOP/s", "Bytes/s", "FLOP per byte", "Share of the limit", "Limited by"];
  const head = element("tr", {}, ...columns.map((name, i) => element("th", { scope: "col", class: i === 0 ? "name" : "" }, name)));
  const rows = known.map((op) => {
    const perSecond = (value, unit) => formatScaled(value / op.ns * 1e9, unit);
    const values = [op.calls, formatTime(op.ns), perSecond(op.flops, "FLOP/s"), perSecond(op.bytes, "B/s"),
      op.bytes > 0 ? (op.flops / op.bytes).toPrecision(3) : "", op.share === null ? "" : `${(op.share * 100).toFixed(1)} %`, op.limit || ""];
    return element("tr", {}, element("td", { class: "name" }, op.name), ...values.map((value) => element("td", {}, String(value))));
  });
  section.append(element("div", { class: "wide" }, element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows))));
})();
