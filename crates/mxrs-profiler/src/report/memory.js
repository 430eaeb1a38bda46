// Memory over time for each device, the tags at its peak, and the memory plans of graphs.
(() => {
  const section = document.getElementById("memory");
  const W = 1000, H = 260, LEFT = 70, BOTTOM = 24;

  function axes(svg, range, most, xText, yText) {
    const yStep = roundStep(most, 5), xStep = roundStep(range, 8);
    for (let y = 0; y <= most; y += yStep) {
      const at = H - BOTTOM - y / most * (H - BOTTOM - 10);
      svg.append(drawing("path", { class: "axis", d: `M${LEFT} ${at}H${W}` }));
      svg.append(drawing("text", { x: LEFT - 6, y: at + 4, "text-anchor": "end" }, yText(y)));
    }
    for (let x = 0; x <= range; x += xStep) {
      const at = LEFT + x / range * (W - LEFT);
      const anchor = at > W - 60 ? "end" : "start";
      svg.append(drawing("text", { x: at, y: H - 6, "text-anchor": anchor }, xText(x)));
    }
  }

  function course(device) {
    const { points, peak } = device;
    const [from, to] = [points[0], Math.max(points[points.length - 3], points[0] + 1)];
    let most = 1;
    for (let i = 0; i < points.length; i += 3) most = Math.max(most, points[i + 1], points[i + 2]);
    const label = `Memory of ${device.device}: at most ${formatBytes(peak.live)} in use`;
    const svg = drawing("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": label });
    axes(svg, to - from, most, formatTime, formatBytes);
    const xOf = (ns) => (LEFT + (ns - from) / (to - from) * (W - LEFT)).toFixed(1);
    const yOf = (bytes) => (H - BOTTOM - bytes / most * (H - BOTTOM - 10)).toFixed(1);
    for (const [name, offset] of [["pool", 2], ["live", 1]]) {
      let path = `M${xOf(from)} ${yOf(0)}`;
      for (let i = 0; i < points.length; i += 3) path += `H${xOf(points[i])}V${yOf(points[i + offset])}`;
      svg.append(drawing("path", { class: name, d: path }));
    }
    svg.append(drawing("circle", { cx: xOf(peak.at), cy: yOf(peak.live), r: 4, fill: "var(--live)" }));
    return svg;
  }

  function tags(peak) {
    const rows = peak.rest > 0 ? [...peak.tags, ["others", peak.rest]] : peak.tags;
    const body = rows.map(([name, bytes]) => element("tr", {}, element("td", { class: "name" }, name),
      element("td", {}, formatBytes(bytes)), element("td", {}, `${(bytes / peak.live * 100).toFixed(1)} %`)));
    const head = element("tr", {}, element("th", { class: "name", scope: "col" }, "Tag"), element("th", { scope: "col" }, "Bytes"),
      element("th", { scope: "col" }, "Share"));
    return element("div", { class: "wide" }, element("table", {}, element("thead", {}, head), element("tbody", {}, ...body)));
  }

  for (const device of data.memory) {
    section.append(element("h2", {}, device.device));
    const legend = element("p", { class: "help" }, `Peak in use: ${formatBytes(device.peak.live)}.`);
    for (const [name, color] of [["in use", "--live"], ["held by pools", "--pool"]]) {
      legend.append(element("span", { class: "key", style: `color: var(${color})` }), name);
    }
    section.append(legend);
    if (device.points.length > 0) section.append(course(device));
    section.append(element("h2", {}, `In use at the peak of ${device.device}`), tags(device.peak));
  }

  for (const plan of data.plans) {
    section.append(element("h2", {}, `Memory plan of ${plan.name}: ${formatBytes(plan.arena)} in ${plan.steps} steps`));
    const label = `Memory plan of ${plan.name}: steps from left to right, addresses from bottom to top`;
    const svg = drawing("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": label });
    axes(svg, Math.max(plan.steps, 1), Math.max(plan.arena, 1), (x) => `step ${x}`, formatBytes);
    for (const [name, offset, bytes, firstStep, lastStep] of plan.rectangles) {
      const x = LEFT + firstStep / plan.steps * (W - LEFT), width = (lastStep - firstStep + 1) / plan.steps * (W - LEFT);
      const height = bytes / plan.arena * (H - BOTTOM - 10), y = H - BOTTOM - (offset + bytes) / plan.arena * (H - BOTTOM - 10);
      const box = drawing("rect", { x, y, width, height, fill: `hsl(${hueOf(name)} 55% 60% / .7)`, stroke: "var(--back)", "stroke-width": .3 });
      box.append(drawing("title", {}, `${name}: ${formatBytes(bytes)} at ${offset}, steps ${firstStep} to ${lastStep}`));
      svg.append(box);
    }
    section.append(svg);
    if (plan.leftOut > 0) section.append(element("p", { class: "help" }, `${plan.leftOut} smaller values are not drawn.`));
  }
  if (data.memory.length + data.plans.length === 0) section.append(element("p", {}, "Memory was not recorded."));
})();
