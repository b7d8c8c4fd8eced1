// What the OPC UA nodes of a fleet cost, and how clients fare with them.
import { join } from "node:path";
import { ownBuild } from "../build.ts";
import { type Percentiles, quantile } from "../quantile.ts";
import { atMost, type Findings, type Reach, row } from "../report.ts";
import { benchFolder, type SectionRun } from "../section-run.ts";
import { type ConditionFigures, measureConditions } from "./conditions.ts";
import { type DeliveryFigures, measureDelivery } from "./delivery.ts";
import { type FleetFigures, measureFleets, measureMemory } from "./fleets.ts";
import type { Browsed, NodeCosts } from "./protocol.ts";
import { measureSlots, type SlotFigures } from "./slot-commands.ts";

const BUILT_WITHIN_MS = 120_000;
const LARGE_FLEET = 5_000;
const most = {
  wallSeconds: 7,
  cpuSeconds: 4,
  nodeKb: 1.6,
  robotKb: 160,
  rssAnonMb: 360,
  largeRssAnonMb: 1_200,
  itemsPercent: 25,
  slotMs: 5,
  browseMs: 100,
  alarmsMb: 3,
  refreshMs: 50,
  refreshHeldMs: 20,
  changeP99Ms: 50,
} as const;
/** A slot's ticket and the journal's record are on the disk before the call leaves, each in its store. */
const SYNCS_A_COMMAND = 2;

interface Seen {
  readonly robots: number;
  readonly costs: NodeCosts;
  readonly fleets: FleetFigures;
  readonly largeRssAnonMb: number;
  readonly delivery: DeliveryFigures;
  readonly slots: SlotFigures;
  readonly conditions: ConditionFigures;
}

export async function measureOpcUa(
  run: SectionRun,
  { robots, quick }: { readonly robots: number; readonly quick: boolean },
): Promise<Findings> {
  const seen: Seen = {
    robots,
    costs: await measureNodes(run, robots),
    fleets: await measureFleets(run, robots),
    delivery: await measureDelivery(run, robots),
    slots: await measureSlots(run),
    conditions: await measureConditions(run),
    largeRssAnonMb: quick ? Number.NaN : await measureMemory(run, LARGE_FLEET),
  };
  return {
    figures: figuresOf(seen),
    faults: faultsOf(seen),
    reach: reachOf(seen),
    table: rowsOf(seen).join("\n"),
  };
}

async function measureNodes(run: SectionRun, robots: number): Promise<NodeCosts> {
  const nodes = run.start("nodes", join(benchFolder, "opcua", "nodes.js"), [String(robots)], {
    nodeOptions: ownBuild.nodeOptions,
    env: ownBuild.env,
  });
  const costs = await nodes.next<NodeCosts>(BUILT_WITHIN_MS);
  await nodes.end();
  return costs;
}

function perNodeKb({ costs }: Seen): number {
  return costs.heapBytes / costs.nodes / 1_000;
}
function perRobotKb({ costs, robots }: Seen): number {
  return costs.heapBytes / robots / 1_000;
}
function itemsPercent({ percentWithItems, percentWithNone }: DeliveryFigures): number {
  return percentWithItems - percentWithNone;
}
function slowest({ requestMs }: Browsed): number {
  return requestMs.reduce((a, b) => Math.max(a, b), 0);
}

function figuresOf(seen: Seen): object {
  const { robots, costs, fleets, largeRssAnonMb, delivery, slots, conditions } = seen;
  const browse = ({ nodes, seconds, requestMs }: Browsed) => ({
    nodes,
    seconds,
    requests: requestMs.length,
    p99Ms: quantile(requestMs, 0.99),
    mostMs: quantile(requestMs, 1),
  });
  return {
    robots,
    ...costs,
    nodeKb: perNodeKb(seen),
    robotKb: perRobotKb(seen),
    rssAnonMb: fleets.rssAnonMb,
    largeRssAnonMb,
    delivery,
    slots,
    conditions,
    browse: { before: browse(fleets.browsed.before), after: browse(fleets.browsed.after) },
  };
}

function faultsOf({ slots, fleets, costs, conditions }: Seen): readonly string[] {
  const { before, after } = fleets.browsed;
  const least = Math.min(...conditions.conditions);
  return [
    ...(least >= conditions.alarms
      ? []
      : [`${conditions.alarms} alarms stood, and a refresh gave ${least} conditions`]),
    ...(slots.calls === slots.commands
      ? []
      : [`${slots.commands} commands were written, and ${slots.calls} calls came`]),
    ...[before, after]
      .filter(({ nodes }) => nodes < costs.nodes)
      .map(({ nodes }) => `a client that browsed everything saw ${nodes} nodes, of ${costs.nodes}`),
  ];
}

function reachOf(seen: Seen): readonly Reach[] {
  const { costs, fleets, largeRssAnonMb, delivery, slots, conditions } = seen;
  const beyond = (each: Percentiles) => slots.callMs.p50 - SYNCS_A_COMMAND * each.p50;
  return [
    atMost("all nodes, wall s", costs.wallSeconds, most.wallSeconds),
    atMost("all nodes, CPU s", costs.cpuSeconds, most.cpuSeconds),
    atMost("heap a node, kB", perNodeKb(seen), most.nodeKb),
    atMost("heap a robot, kB", perRobotKb(seen), most.robotKb),
    atMost("RssAnon of the gateway after its start, MB", fleets.rssAnonMb, most.rssAnonMb),
    ...(Number.isNaN(largeRssAnonMb)
      ? []
      : [atMost(`the same with ${LARGE_FLEET} robots, MB`, largeRssAnonMb, most.largeRssAnonMb)]),
    atMost("browse before all nodes, slowest request, ms", slowest(fleets.browsed.before), most.browseMs),
    atMost("browse after that, slowest request, ms", slowest(fleets.browsed.after), most.browseMs),
    atMost("changes that did not come", delivery.changes - delivery.delivered, 0),
    atMost("items more than none, % of a core", itemsPercent(delivery), most.itemsPercent),
    atMost("slot to call, p50 beyond two syncs of the disk, ms", beyond(slots.syncMs), most.slotMs),
    atMost("slot to call, p50 beyond two records in a store, ms", beyond(slots.storeMs), most.slotMs),
    atMost("heap of standing alarms, MB", conditions.memoryMb, most.alarmsMb),
    atMost("CPU of a ConditionRefresh, median, ms", quantile(conditions.refreshCpuMs, 0.5), most.refreshMs),
    atMost("  longest turn of the loop, ms", Math.max(...conditions.refreshHeldMs), most.refreshHeldMs),
    atMost("alarm changes: newest states not shown", conditions.wrong, 0),
    atMost("  the loop held meanwhile, p99, ms", conditions.changeP99Ms, most.changeP99Ms),
  ];
}

function rowsOf(seen: Seen): readonly string[] {
  const { robots, costs, fleets, largeRssAnonMb, delivery, slots, conditions } = seen;
  const browsed = (what: string, { nodes, seconds, requestMs }: Browsed) =>
    row(`  ${what}`, nodes, seconds, quantile(requestMs, 0.99), slowest({ nodes, seconds, requestMs }));
  return [
    row(`${robots} robots: nodes in all`, costs.nodes),
    row("nodes of a cart with two conveyors, of another robot", costs.cartNodes, costs.otherNodes),
    row("all nodes, wall s", costs.wallSeconds),
    row("all nodes, CPU s", costs.cpuSeconds),
    row("heap a node, kB", perNodeKb(seen)),
    row("heap a robot, kB", perRobotKb(seen)),
    row("RssAnon of the gateway after its start, MB", fleets.rssAnonMb),
    row(`  with ${LARGE_FLEET} robots`, largeRssAnonMb),
    row("a client browses the whole tree", "nodes", "s", "p99 ms", "most ms"),
    browsed("from the start of the gateway on", fleets.browsed.before),
    browsed("when all nodes are there", fleets.browsed.after),
    row(
      `${delivery.items} items, sampled every ${delivery.samplingMs.join(", ")} ms: changes a second`,
      delivery.changesASecond,
    ),
    row("  changes, of which came", delivery.changes, delivery.delivered),
    row("  CPU with none and with them, %", delivery.percentWithNone, delivery.percentWithItems),
    row("a slot's write to the call at the service, ms", "p50", "p99"),
    row(`  ${slots.commands} commands, one after the other`, slots.callMs.p50, slots.callMs.p99),
    row("  sync of the disk (4 kB, fdatasync), as often", slots.syncMs.p50, slots.syncMs.p99),
    row("  a record in a store of that disk", slots.storeMs.p50, slots.storeMs.p99),
    row("standing alarms, conditions in a refresh", conditions.alarms, Math.min(...conditions.conditions)),
    row("  heap of the alarms, MB", conditions.memoryMb),
    row(
      "  CPU of a refresh, ms: first, median",
      conditions.refreshCpuMs[0] ?? Number.NaN,
      quantile(conditions.refreshCpuMs, 0.5),
    ),
    row(
      `${conditions.changes} changes in ${conditions.changeSeconds.toFixed(2)} s: events, states not shown`,
      conditions.changeEvents,
      conditions.wrong,
    ),
  ];
}
