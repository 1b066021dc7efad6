// What draws on a canvas draws an SVG with the same calls.

import { svg } from "./el.js";

const FONT = "'Segoe UI', Roboto, 'Noto Sans', Helvetica, Arial, sans-serif";
const ENDS = { left: "start", center: "middle", right: "end" };

/** A stand-in for the context of a canvas of this size; `drawing` is the svg element. `measure` is a real context. */
export class Pen {
  constructor(width, height, measure) {
    this.drawing = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
    this.measure = measure;
    this.lineWidth = 1;
    this.beginPath();
  }

  set font(value) {
    this.measure.font = value;
    this.size = parseFloat(value);
  }

  measureText(text) {
    return this.measure.measureText(text);
  }

  beginPath() {
    this.path = "";
  }

  moveTo(x, y) {
    this.path += `M${near(x)} ${near(y)}`;
  }

  lineTo(x, y) {
    this.path += `L${near(x)} ${near(y)}`;
  }

  arc(x, y, r) {
    this.path += `M${near(x - r)} ${near(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;
  }

  stroke() {
    this.add("path", { d: this.path, fill: "none", stroke: this.strokeStyle });
  }

  fillRect(x, y, width, height) {
    this.add("rect", { x: near(x), y: near(y), width: near(width), height: near(height), fill: this.fillStyle });
  }

  strokeRect(x, y, width, height) {
    this.add("rect", { x: near(x), y: near(y), width: near(width), height: near(height), fill: "none", stroke: this.strokeStyle });
  }

  fillText(text, x, y) {
    const node = svg("text", { x: near(x), y: near(y + 0.35 * this.size), "text-anchor": ENDS[this.textAlign], fill: this.fillStyle }, text);
    node.setAttribute("font-family", FONT);
    node.setAttribute("font-size", `${this.size}px`);
    this.drawing.append(node);
  }

  add(tag, props) {
    this.drawing.append(svg(tag, props));
  }
}

function near(value) {
  return Math.round(value * 100) / 100;
}
