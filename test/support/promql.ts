/** Words of PromQL that are no metrics and have no bracket behind them. */
const words = new Set([
  "and",
  "or",
  "unless",
  "bool",
  "on",
  "ignoring",
  "group_left",
  "group_right",
  "offset",
]);

/** The metrics that an expression reads, in order, each once. */
export function metricNames(expression: string): readonly string[] {
  const bare = expression
    .replace(/"(?:[^"\\]|\\.)*"/g, "")
    .replace(/\{[^}]*\}/g, "")
    .replace(/\[[^\]]*\]/g, "")
    .replace(/\b(?:by|without|on|ignoring)\s*\([^)]*\)/g, "");
  const names = Array.from(bare.matchAll(/\b([a-zA-Z_]\w*)\b(?!\s*\()/g), ([, name = ""]) => name);
  return [...new Set(names.filter((name) => !words.has(name)))];
}
