import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

type Colour = readonly [red: number, green: number, blue: number, alpha: number];

/** Asked of every text by WCAG 2.2, AA. */
const LEAST_TEXT = 4.5;
/** Asked of the edges of controls and of marks. */
const LEAST_LINE = 3;

const themes = { light: 0, dark: 1 } as const;
const tokens = readTokens();
const texts = ["text", "muted", "accent", "abnormal", "alarm"] as const;
const grounds = ["ground", "surface", "raised", "sunken"] as const;
/** A text, and what it stands on. */
const pairs: ReadonlyArray<readonly [string, string]> = [
  ...texts.flatMap((text) => grounds.map((ground) => [text, ground] as const)),
  ...["text", "abnormal"].map((text) => [text, "abnormal-soft"] as const),
  ...["text", "alarm"].map((text) => [text, "alarm-soft"] as const),
  ...["text", "muted", "accent"].map((text) => [text, "accent-soft"] as const),
  ["on-accent", "accent"],
  ["on-alarm", "alarm-solid"],
  ["map-point-name", "map-ground"],
  ["text", "map-ground"],
  ["accent", "map-ground"],
];

describe.each(Object.entries(themes))("the colours of the %s theme", (_name, theme) => {
  const colour = (token: string): Colour => {
    const found = tokens.get(`--${token}`)?.[theme];
    if (found === undefined) throw new Error(`there is no token --${token}`);
    return found;
  };

  it.each(pairs)("make %s readable on %s", (text, ground) => {
    expect(contrast(colour(text), colour(ground))).toBeGreaterThanOrEqual(LEAST_TEXT);
  });

  it.each(pairs)("make %s readable on %s below the film and the stripes of the veil", (text, ground) => {
    for (const layers of [["veil-film"], ["veil-film", "veil-stripe"]]) {
      const below = (token: string) =>
        layers.reduce((under, layer) => over(colour(layer), under), colour(token));
      expect(contrast(below(text), below(ground))).toBeGreaterThanOrEqual(LEAST_TEXT);
    }
  });

  it.each(["edge", "map-mark", "map-abnormal", "map-alarm"])("make %s seen", (line) => {
    for (const ground of ["surface", "map-ground"])
      expect(contrast(colour(line), colour(ground))).toBeGreaterThanOrEqual(LEAST_LINE);
  });
});

/** `--name: light-dark(a, b);` of the style sheet. */
function readTokens(): ReadonlyMap<string, readonly [light: Colour, dark: Colour]> {
  const path = new URL("../../src/console/style/tokens.css", import.meta.url);
  const found = readFileSync(path, "utf8").matchAll(/(--[\w-]+): light-dark\((.+), (.+)\);/g);
  return new Map([...found].map(([, name = "", light = "", dark = ""]) => [name, [read(light), read(dark)]]));
}

function read(text: string): Colour {
  const [, hex] = /^#([0-9a-f]{6})$/.exec(text) ?? [];
  if (hex !== undefined) {
    const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
    return [red, green, blue, 1];
  }
  const [, red, green, blue, percent] = /^rgb\((\d+) (\d+) (\d+) \/ (\d+)%\)$/.exec(text) ?? [];
  if (percent === undefined) throw new Error(`no colour: ${text}`);
  return [Number(red), Number(green), Number(blue), Number(percent) / 100];
}

function over([red, green, blue, alpha]: Colour, below: Colour): Colour {
  const mix = (top: number, under: number) => top * alpha + under * (1 - alpha);
  return [mix(red, below[0]), mix(green, below[1]), mix(blue, below[2]), 1];
}

function contrast(a: Colour, b: Colour): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((one, other) => one - other);
  return (light + 0.05) / (dark + 0.05);
}

function luminance([red, green, blue]: Colour): number {
  const [r = 0, g = 0, b = 0] = [red, green, blue].map((channel) => {
    const part = channel / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
