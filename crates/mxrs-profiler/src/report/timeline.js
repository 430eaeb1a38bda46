// The timeline: a row per thread, spans inside spans below them.
const timeline = (() => {
  const canvas = document.getElementById("spans");
  const details = document.getElementById("span");
  const ROW = 18, LABEL = 16, RULER = 20, GAP = 6;
  const spans = [];
  for (let i = 0; i < data.spans.length; i += SPAN_FIELDS) {
    const [thread, name, category, more, begin, ns] = data.spans.slice(i, i + SPAN_FIELDS);
    spans.push({ thread, name: data.texts[name], category: data.texts[category], more: data.details[more], begin, ns });
  }
  // An outer span comes before the spans inside it.
  spans.sort((a, b) => a.begin - b.begin || b.ns - a.ns);

  const rows = new Map(data.threads.map((t) => [t.number, { name: t.name || `thread ${t.number}`, ends: [], depth: 1, top: 0 }]));
  for (const span of spans) {
    const row = rows.get(span.thread);
    // The first level that is free at the begin of the span.
    let level = 0;
    while (level < row.ends.length && row.ends[level] > span.begin) level += 1;
    row.ends[level] = span.begin + span.ns;
    row.depth = Math.max(row.depth, level + 1);
    span.level = level;
  }
  let height = RULER;
  for (const row of rows.values()) {
    row.top = height + LABEL;
    height += LABEL + row.depth * ROW + GAP;
  }

  const first = spans.length ? spans[0].begin : 0;
  const last = spans.reduce((end, span) => Math.max(end, span.begin + span.ns), first + 1);
  const view = { from: first, to: last };
  let selected = -1;
  let found = new Set();

  const width = () => canvas.clientWidth || 800;
  const xOf = (ns) => (ns - view.from) / (view.to - view.from) * width();
  const nsOf = (x) => view.from + x / width() * (view.to - view.from);

  function setView(from, to) {
    const most = (last - first) * 1.2, least = 50;
    const range = Math.min(Math.max(to - from, least), most);
    const center = Math.min(Math.max((from + to) / 2, first), last);
    [view.from, view.to] = [center - range / 2, center + range / 2];
    draw();
  }

  function drawRuler(context) {
    const step = roundStep(view.to - view.from, width() / 110);
    context.fillStyle = styleOf("--soft");
    context.strokeStyle = styleOf("--line");
    for (let at = Math.ceil((view.from - first) / step) * step; at + first <= view.to; at += step) {
      const x = Math.round(xOf(at + first)) + .5;
      context.beginPath(); context.moveTo(x, RULER - 6); context.lineTo(x, height); context.stroke();
      if (at >= 0) context.fillText(formatTime(at), x + 3, RULER - 8);
    }
  }

  function drawSpan(context, span, index, seen) {
    const x = xOf(span.begin), right = xOf(span.begin + span.ns);
    const row = rows.get(span.thread), y = row.top + span.level * ROW;
    if (right < 0 || x > width()) return;
    // Spans that fall into one pixel are drawn once.
    const key = `${span.thread} ${span.level}`, pixel = Math.floor(right);
    if (right - x < 1 && index !== selected && !found.has(index)) {
      if (seen.get(key) === pixel) return;
      seen.set(key, pixel);
    }
    const box = [Math.max(x, -1), y, Math.max(Math.min(right, width() + 1) - Math.max(x, -1), 1), ROW - 2];
    const dim = found.size > 0 && !found.has(index);
    context.fillStyle = `hsl(${hueOf(span.name)} ${dim ? 10 : 55}% ${isDark() ? 38 : 76}%)`;
    context.fillRect(...box);
    if (index === selected) {
      context.strokeStyle = styleOf("--focus"); context.lineWidth = 2;
      context.strokeRect(...box); context.lineWidth = 1;
    }
    if (box[2] > 30) {
      context.save();
      context.beginPath(); context.rect(...box); context.clip();
      context.fillStyle = styleOf("--front");
      context.fillText(span.name, box[0] + 4, y + 12);
      context.restore();
    }
  }

  function draw() {
    const scale = window.devicePixelRatio || 1;
    canvas.style.height = `${height}px`;
    [canvas.width, canvas.height] = [width() * scale, height * scale];
    const context = canvas.getContext("2d");
    context.scale(scale, scale);
    context.font = "12px system-ui, sans-serif";
    drawRuler(context);
    for (const row of rows.values()) {
      context.fillStyle = styleOf("--soft");
      context.fillText(row.name, 4, row.top - 4);
    }
    const seen = new Map();
    spans.forEach((span, index) => drawSpan(context, span, index, seen));
  }

  function select(index, moves) {
    selected = index;
    details.replaceChildren();
    if (index >= 0) {
      const span = spans[index], list = element("dl");
      const add = (key, value) => list.append(element("dt", {}, key), element("dd", {}, value));
      add("name", span.name);
      add("category", span.category);
      add("time", `${formatTime(span.ns)}, from ${formatTime(span.begin - first)}`);
      add("thread", rows.get(span.thread).name);
      (span.more || []).forEach(([key, value]) => add(key, value));
      details.append(list);
      const [x, right] = [xOf(span.begin), xOf(span.begin + span.ns)];
      if (moves && (x < 0 || right > width())) {
        const range = view.to - view.from, center = span.begin + span.ns / 2;
        return setView(center - range / 2, center + range / 2);
      }
    }
    draw();
  }

  function spanAt(x, y) {
    const at = nsOf(x), slack = (view.to - view.from) / width();
    return spans.findLastIndex((span) => {
      const top = rows.get(span.thread).top + span.level * ROW;
      return y >= top && y < top + ROW && at >= span.begin - slack && at <= span.begin + span.ns + slack;
    });
  }

  // The next span of the same thread, or of the search.
  function step(direction) {
    if (spans.length === 0) return;
    const fits = (i) => (found.size > 0 ? found.has(i) : selected < 0 || spans[i].thread === spans[selected].thread);
    let at = selected < 0 && direction < 0 ? spans.length : selected;
    do { at += direction; } while (at >= 0 && at < spans.length && !fits(at));
    if (at >= 0 && at < spans.length) select(at, true);
  }

  function zoom(factor, center) {
    setView(center - (center - view.from) * factor, center + (view.to - center) * factor);
  }

  const keys = {
    ArrowLeft: () => { const by = (view.to - view.from) * .15; setView(view.from - by, view.to - by); },
    ArrowRight: () => { const by = (view.to - view.from) * .15; setView(view.from + by, view.to + by); },
    "+": () => zoom(1 / 1.5, (view.from + view.to) / 2),
    "=": () => zoom(1 / 1.5, (view.from + view.to) / 2),
    "-": () => zoom(1.5, (view.from + view.to) / 2),
    0: () => setView(first, last),
    "[": () => step(-1),
    "]": () => step(1),
    Enter: () => {
      if (selected < 0) return;
      const { begin, ns } = spans[selected];
      setView(begin - ns * .1, begin + ns * 1.1);
    },
    Escape: () => select(-1, false),
  };

  canvas.addEventListener("keydown", (event) => {
    const act = keys[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.25 : .8, nsOf(event.offsetX));
  }, { passive: false });
  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    drag = { x: event.offsetX, from: view.from, to: view.to, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) return;
    drag.moved ||= Math.abs(event.offsetX - drag.x) > 3;
    const by = (event.offsetX - drag.x) / width() * (drag.to - drag.from);
    if (drag.moved) setView(drag.from - by, drag.to - by);
  });
  canvas.addEventListener("pointerup", (event) => {
    if (drag && !drag.moved) select(spanAt(event.offsetX, event.offsetY), false);
    drag = null;
  });
  document.getElementById("find").addEventListener("input", (event) => {
    const wanted = event.target.value.trim().toLowerCase();
    found = new Set(wanted ? spans.flatMap((s, i) => (s.name.toLowerCase().includes(wanted) ? [i] : [])) : []);
    const ns = [...found].reduce((sum, i) => sum + spans[i].ns, 0);
    document.getElementById("found").textContent = wanted ? `${found.size} spans, ${formatTime(ns)}` : "";
    draw();
  });
  redraws.push(draw);
  return { first, last };
})();
