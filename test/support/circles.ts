/**
 * The circles of a graph of imports: each a group of files of which every one reaches every other.
 *
 * @param imports the files that each file imports, type-only imports too
 * @returns each group sorted by name; empty when there is no circle
 */
export function circlesOf(imports: ReadonlyMap<string, readonly string[]>): string[][] {
  const reachedFrom = new Map<string, ReadonlySet<string>>();
  for (const file of imports.keys()) reachedFrom.set(file, reach(file, imports));
  const grouped = new Set<string>();
  const circles: string[][] = [];
  for (const file of [...imports.keys()].sort()) {
    if (grouped.has(file) || !reachedFrom.get(file)?.has(file)) continue;
    const circle = [...(reachedFrom.get(file) ?? [])].filter((other) => reachedFrom.get(other)?.has(file));
    for (const member of circle) grouped.add(member);
    circles.push(circle.sort());
  }
  return circles;
}

/** What `from` imports, what that imports, and so on. */
function reach(from: string, imports: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const reached = new Set<string>();
  const waiting = [...(imports.get(from) ?? [])];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (reached.has(file)) continue;
    reached.add(file);
    waiting.push(...(imports.get(file) ?? []));
  }
  return reached;
}
