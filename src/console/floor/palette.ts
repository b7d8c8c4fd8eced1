/** The colours of the drawing. Those of states are named as the states. */
export interface Palette {
  readonly ground: string;
  readonly grid: string;
  readonly point: string;
  readonly pointName: string;
  readonly trail: string;
  readonly text: string;
  readonly chosen: string;
  readonly normal: string;
  readonly abnormal: string;
  readonly alarm: string;
}

const tokens: Readonly<Record<keyof Palette, string>> = {
  ground: "--map-ground",
  grid: "--map-grid",
  point: "--map-point",
  pointName: "--map-point-name",
  trail: "--map-trail",
  text: "--text",
  chosen: "--accent",
  normal: "--map-mark",
  abnormal: "--map-abnormal",
  alarm: "--map-alarm",
};

/** The colours that the style sheet has now: its tokens differ between light and dark. */
export function paletteOf(canvas: HTMLElement): Palette {
  const named = Object.entries(tokens).map(([name, token]) => [name, tokenColour(canvas, token)]);
  return Object.fromEntries(named) as unknown as Palette;
}

/** A canvas knows no tokens: the colour that one has now, where the element is. */
export function tokenColour(element: HTMLElement, token: string): string {
  const before = element.style.color;
  element.style.color = `var(${token})`;
  const { color } = getComputedStyle(element);
  element.style.color = before;
  return color;
}
