import { readFile } from "node:fs/promises";

interface HeapSnapshot {
  readonly snapshot: {
    readonly meta: {
      readonly node_fields: readonly string[];
      readonly node_types: readonly [readonly string[], ...unknown[]];
    };
  };
  readonly nodes: readonly number[];
  readonly strings: readonly string[];
}

/** Counts the objects of a V8 heap snapshot by the name of their class. */
export async function countObjects(path: string): Promise<ReadonlyMap<string, number>> {
  const { snapshot, nodes, strings } = JSON.parse(await readFile(path, "utf8")) as HeapSnapshot;
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const typeAt = fields.indexOf("type");
  const nameAt = fields.indexOf("name");
  const ofClass = types[0].indexOf("object");
  const counts = new Map<string, number>();
  for (let at = 0; at < nodes.length; at += fields.length) {
    if (nodes[at + typeAt] !== ofClass) continue;
    const name = strings[nodes[at + nameAt] ?? -1] ?? "";
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}
