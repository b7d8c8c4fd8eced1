import type { Health } from "./component.ts";

/**
 * The health of a daemon's parts as it is shown outside: the names of figures in snake_case, as in all that
 * is published.
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
