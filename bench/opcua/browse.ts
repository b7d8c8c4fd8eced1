import { setTimeout as pause } from "node:timers/promises";
import { BrowseDirection, type ClientSession, NodeClassMask } from "node-opcua";
import type { Browsed } from "./protocol.ts";
import { nodeIdOf } from "./session.ts";

/** A request names so many nodes: a tool that a person looks at names one, an import some. */
const NODES_A_REQUEST = 10;
const LOOK_MS = 20;
/** Every bit of the mask (OPC UA part 4, 5.9.2.2). */
const ALL_FIELDS = 63;

/**
 * Waits until so many robots are listed. Then it browses everything below `Robots` with all that a client can
 * ask of a reference, one request at a time.
 */
export async function browseAll(session: ClientSession, robots: number): Promise<Browsed> {
  const root = nodeIdOf("Robots");
  while ((await countBelow(session, root)) < robots) await pause(LOOK_MS);
  const seen = new Set([root]);
  let level = [root];
  const requestMs: number[] = [];
  const startedMs = performance.now();
  while (level.length > 0) {
    const below: string[] = [];
    for (let first = 0; first < level.length; first += NODES_A_REQUEST) {
      const asked = level.slice(first, first + NODES_A_REQUEST);
      const askedAtMs = performance.now();
      const results = await session.browse(asked.map(everythingBelow));
      requestMs.push(performance.now() - askedAtMs);
      for (const { references } of results) {
        for (const { nodeId } of references ?? []) {
          const id = nodeId.toString();
          if (seen.has(id)) continue;
          seen.add(id);
          below.push(id);
        }
      }
    }
    level = below;
  }
  return { nodes: seen.size, seconds: (performance.now() - startedMs) / 1_000, requestMs };
}

/** How many nodes a node leads to. A robot has two references from its folder: one of them is for events. */
async function countBelow(session: ClientSession, nodeId: string): Promise<number> {
  const { references } = await session.browse(everythingBelow(nodeId));
  return new Set(references?.map((reference) => reference.nodeId.toString())).size;
}

function everythingBelow(nodeId: string) {
  return {
    nodeId,
    referenceTypeId: "HierarchicalReferences",
    includeSubtypes: true,
    browseDirection: BrowseDirection.Forward,
    nodeClassMask: NodeClassMask.Object | NodeClassMask.Variable | NodeClassMask.Method,
    resultMask: ALL_FIELDS,
  };
}
