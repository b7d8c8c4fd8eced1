import type { Health } from "./component.ts";

/**
 * The health of a daemon's components as it is published: the names of figures are in snake_case, like all
 * published names.
 */
export function publishedHealth(parts: Readonly<Record<string, Health>>): Record<string, Health> {
  const published: Record<string, Health> = {};
  for (const [name, part] of Object.entries(parts)) {
    published[name] = part.figures === undefined ? part : { ...part, figures: snakeCase(part.figures) };
  }
  return published;
}

function snakeCase(figures: Readonly<Record<string, number>>): Record<string, number> {
  const renamed = Object.entries(figures).map(([name, value]) => [
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    value,
  ]);
  return Object.fromEntries(renamed);
}
