// Figures as text, elements, colors, and the axes that several parts share.
const data = JSON.parse(document.getElementById("data").textContent);
const SPAN_FIELDS = 6;

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function drawing(name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function formatTime(ns) {
  if (ns < 1e3) return `${ns.toFixed(0)} ns`;
  if (ns < 1e6) return `${(ns / 1e3).toPrecision(4)} µs`;
  if (ns < 1e9) return `${(ns / 1e6).toPrecision(4)} ms`;
  return `${(ns / 1e9).toPrecision(4)} s`;
}

function formatScaled(value, unit) {
  const steps = ["", "k", "M", "G", "T", "P"];
  let at = 0;
  while (value >= 1000 && at < steps.length - 1) { value /= 1000; at += 1; }
  return `${at === 0 ? +value.toFixed(2) : value.toPrecision(4)} ${steps[at]}${unit}`;
}

const formatBytes = (bytes) => formatScaled(bytes, "B");

// A color of a text: equal texts have equal colors.
const hues = new Map();
function hueOf(text) {
  let hue = hues.get(text);
  if (hue === undefined) {
    let hash = 2166136261;
    for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
    hue = (hash >>> 0) % 360;
    hues.set(text, hue);
  }
  return hue;
}

const isDark = () => document.documentElement.classList.contains("dark");
const styleOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Round steps for an axis with about `wanted` marks.
function roundStep(range, wanted) {
  const raw = range / wanted;
  const power = 10 ** Math.floor(Math.log10(raw || 1));
  const digit = [1, 2, 5, 10].find((d) => d * power >= raw) || 10;
  return digit * power;
}

// What has to be drawn again after a change of size or colors.
const redraws = [];
const redrawAll = () => redraws.forEach((redraw) => redraw());
