// A process that makes the OPC UA nodes of so many robots, as the gateway does, and tells what they cost.
import { setTimeout as pause } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { StateChange } from "../../src/domain/change.ts";
import { createCatalogue } from "../../src/fleet/operations.ts";
import { defaultOpcUaLimits } from "../../src/northbound/opcua/options.ts";
import { conveyorChange } from "../../test/northbound/opcua/changes.ts";
import { openSession, startServer } from "../../test/northbound/opcua/opcua-harness.ts";
import type { NodeCosts } from "./protocol.ts";

/** Of ten robots so many are carts, as in the simulated plant; each has two conveyors. */
const CARTS_OF_TEN = 3;
const CONVEYORS = [1, 2] as const;
const LOOK_EVERY_MS = 10;

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");

const robotCount = Number(process.argv[2]);
const isCart = (place: number) => place % 10 < CARTS_OF_TEN;
const places = Array.from({ length: robotCount }, (_unused, index) => index);

/** What is heard of a robot first. */
function firstNews(place: number): readonly StateChange[] {
  const robotId = `robot-${place}`;
  if (!isCart(place)) return [{ kind: "robot", robotId, family: "serve", quality: "good" }];
  return [
    { kind: "robot", robotId, family: "cart", quality: "good" },
    ...CONVEYORS.map((index) => conveyorChange(robotId, index)),
  ];
}

/** Of the whole process, after a collection. */
function heapBytes(): number {
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

/** The nodes of a robot itself: those that all robots share belong to none. */
async function countNodes(url: string, root: string): Promise<number> {
  const client = await openSession(url);
  let level = [root];
  let count = 0;
  while (level.length > 0) {
    count += level.length;
    const browsed = await client.session.browse(level);
    const below = browsed
      .flatMap(({ references }) => references ?? [])
      .map(({ nodeId }) => nodeId.toString());
    level = [...new Set(below.filter((nodeId) => nodeId.startsWith(`${root}.`)))].filter(
      (nodeId) => !level.includes(nodeId),
    );
  }
  await client.close();
  return count;
}

const running = await startServer(
  { limits: { ...defaultOpcUaLimits, maxRobots: robotCount } },
  { catalogue: createCatalogue() },
);
const heapBefore = heapBytes();
const cpuBefore = process.cpuUsage();
const startedMs = performance.now();
running.server.write({ changes: places.flatMap(firstNews), events: [] });
while (running.server.health().figures?.robots !== robotCount) {
  await pause(LOOK_EVERY_MS);
}
const wallSeconds = (performance.now() - startedMs) / 1_000;
const { user, system } = process.cpuUsage(cpuBefore);
const heap = heapBytes() - heapBefore;
const cartNodes = await countNodes(running.url, "ns=2;s=Robots.robot-0");
const otherNodes = await countNodes(running.url, "ns=2;s=Robots.robot-9");
await running.stop();
const costs: NodeCosts = {
  wallSeconds,
  cpuSeconds: (user + system) / 1e6,
  heapBytes: heap,
  cartNodes,
  otherNodes,
  nodes: places.reduce((sum, place) => sum + (isCart(place) ? cartNodes : otherNodes), 0),
};
process.send?.(costs);
