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
  "minisearch",
  "preact",
  "uplot",
];

/** The font of the console: cut to the letters of Western Europe, and to the weights 400 to 700. */
export const font = {
  name: "inter",
  version: "4.001",
  licence: "OFL-1.1",
  url: "https://rsms.me/inter/",
  licenceText: "src/console/fonts/OFL.txt",
  /** Of its licence in a package. */
  folder: "licences/inter",
};
