// The OPC UA nodes of a thousand robots: how long they take, and what memory.
import { join } from "node:path";
import { ownBuild } from "../build.ts";
import { nodesBuilt, streamsOpen } from "../fleet/open.ts";
import { startGateway } from "../gateway.ts";
import { atMost, type Findings, row } from "../report.ts";
import { benchFolder, freePorts, pause, type SectionRun, startBroker } from "../section-run.ts";
import { fleetSection, startService } from "../service.ts";
import type { NodeCosts } from "./protocol.ts";

const BUILT_WITHIN_MS = 120_000;
/** Time for what a start leaves to do, and for the heap to be collected. */
const SETTLE_MS = 45_000;
const MOST_WALL_SECONDS = 7;
const MOST_CPU_SECONDS = 4;
const MOST_NODE_KB = 1.6;
const MOST_ROBOT_KB = 160;
const MOST_RSS_MB = 360;

export async function measureOpcUa(
  run: SectionRun,
  { robots }: { readonly robots: number },
): Promise<Findings> {
  const nodes = run.start("nodes", join(benchFolder, "opcua", "nodes.js"), [String(robots)], {
    nodeOptions: ownBuild.nodeOptions,
  });
  const costs = await nodes.next<NodeCosts>(BUILT_WITHIN_MS);
  await nodes.end();
  const rssAnonMb = await gatewayMemory(run, robots);
  const nodeKb = costs.heapBytes / costs.nodes / 1_000;
  const robotKb = costs.heapBytes / robots / 1_000;
  return {
    figures: { robots, ...costs, nodeKb, robotKb, rssAnonMb },
    faults: [],
    reach: [
      atMost("all nodes, wall s", costs.wallSeconds, MOST_WALL_SECONDS),
      atMost("all nodes, CPU s", costs.cpuSeconds, MOST_CPU_SECONDS),
      atMost("heap a node, kB", nodeKb, MOST_NODE_KB),
      atMost("heap a robot, kB", robotKb, MOST_ROBOT_KB),
      atMost("RssAnon of the gateway after its start, MB", rssAnonMb, MOST_RSS_MB),
    ],
    table: [
      row(`${robots} robots: nodes in all`, costs.nodes),
      row("nodes of a cart with two conveyors, of another robot", costs.cartNodes, costs.otherNodes),
      row("all nodes, wall s", costs.wallSeconds),
      row("all nodes, CPU s", costs.cpuSeconds),
      row("heap a node, kB", nodeKb),
      row("heap a robot, kB", robotKb),
      row("RssAnon of the gateway after its start, MB", rssAnonMb),
    ].join("\n"),
  };
}

/** Of the built gateway with a fleet of so many robots, none of which it has heard of before. */
async function gatewayMemory(run: SectionRun, robots: number): Promise<number> {
  const mqttPort = await startBroker(run);
  const service = await startService(run, {
    folder: join(run.folder, "service"),
    port: await freePorts(),
    args: ["--robots", String(robots)],
  });
  const fleet = { ...fleetSection(service.address), locations: ["plant-1"] };
  const startedAtMs = Date.now();
  const gateway = await startGateway(run, { id: "bench", fleet, mqttPort });
  await streamsOpen(gateway, service, robots, startedAtMs);
  await nodesBuilt(gateway, robots);
  await pause(SETTLE_MS);
  return gateway.child.rssAnonMb();
}
