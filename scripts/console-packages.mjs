/** Packages whose code is in the console's files. The build fails when this list is wrong. */
export const consolePackages = [
  "@preact/signals",
  "@preact/signals-core",
  "d3-color",
  "d3-dispatch",
  "d3-drag",
  "d3-ease",
  "d3-interpolate",
  "d3-selection",
  "d3-timer",
  "d3-transition",
  "d3-zoom",
  "preact",
  "uplot",
];
