import { join } from "node:path";
import { ask } from "../ask.ts";
import type { Child } from "../child.ts";
import { nodesBuilt } from "../fleet/open.ts";
import { type Gateway, startGateway } from "../gateway.ts";
import { loadFleet } from "../messages/load-fleet.ts";
import { benchFolder, REPLY_TIMEOUT_MS, type SectionRun, startBroker } from "../section-run.ts";
import type { ChangesReply, ChangesResult } from "./protocol.ts";

/** Each changes five of a robot's ten subscribed tags. */
const MESSAGES_A_SECOND = 2_000;
const WARM_UP_SECONDS = 8;
const BLOCK_SECONDS = 10;
/** With none, with items, with items, with none: so that a drift of the machine falls on both. */
const ORDER = ["none", "items", "items", "none"] as const;

/** What ten thousand subscribed items cost while their values change. */
export interface DeliveryFigures {
  readonly items: number;
  /** What the server makes of the interval that clients ask for. */
  readonly samplingMs: readonly number[];
  readonly changesASecond: number;
  readonly changes: number;
  readonly delivered: number;
  /** Of a core. */
  readonly percentWithNone: number;
  readonly percentWithItems: number;
}

export async function measureDelivery(run: SectionRun, robots: number): Promise<DeliveryFigures> {
  const { load, gateway } = await open(run, robots);
  const subscribe = () =>
    ask<ChangesReply, "subscribed">(load, { kind: "subscribe", port: gateway.opcuaPort }, "subscribed");
  const unsubscribe = () => ask<ChangesReply, "unsubscribed">(load, { kind: "unsubscribe" }, "unsubscribed");
  let subscribed = await subscribe();
  await send(load, gateway, WARM_UP_SECONDS);
  await unsubscribe();
  const blocks = { none: [] as Block[], items: [] as Block[] };
  let isSubscribed = false;
  for (const kind of ORDER) {
    if (kind === "items" && !isSubscribed) subscribed = await subscribe();
    if (kind === "none" && isSubscribed) await unsubscribe();
    isSubscribed = kind === "items";
    blocks[kind].push(await send(load, gateway, BLOCK_SECONDS));
  }
  for (const child of [load, gateway.child]) await child.end();
  const sum = (of: (block: Block) => number) => blocks.items.reduce((total, block) => total + of(block), 0);
  return {
    items: subscribed.items,
    samplingMs: subscribed.samplingMs,
    changes: sum(({ changes }) => changes),
    delivered: sum(({ delivered }) => delivered),
    changesASecond: sum(({ changes }) => changes) / sum(({ seconds }) => seconds),
    percentWithNone: percentOf(blocks.none),
    percentWithItems: percentOf(blocks.items),
  };
}

interface Block extends ChangesResult {
  readonly cpuSeconds: number;
}

/** Of a core, at the rate that was asked for: a machine that is busy sends for longer. */
function percentOf(blocks: readonly Block[]): number {
  const cpuSeconds = blocks.reduce((sum, block) => sum + block.cpuSeconds, 0);
  const messages = blocks.reduce((sum, block) => sum + block.messages, 0);
  return (100 * cpuSeconds * MESSAGES_A_SECOND) / messages;
}

async function send(load: Child, gateway: Gateway, seconds: number): Promise<Block> {
  const before = gateway.child.cpuMicros();
  const request = { kind: "send", messagesPerSecond: MESSAGES_A_SECOND, seconds };
  const { result } = await ask<ChangesReply, "sent">(load, request, "sent");
  return { ...result, cpuSeconds: (gateway.child.cpuMicros() - before) / 1e6 };
}

async function open(run: SectionRun, robots: number) {
  const mqttPort = await startBroker(run);
  const args = [String(robots), run.folder];
  const load = run.start("changes", join(benchFolder, "opcua", "changes.js"), args);
  const listening = await load.next<ChangesReply>(REPLY_TIMEOUT_MS);
  if (listening.kind !== "listening") throw new Error(`changes answered ${listening.kind}`);
  const fleet = loadFleet(run, "gateway", listening.address, robots);
  const gateway = await startGateway(run, { id: "changes", fleet, mqttPort });
  await nodesBuilt(gateway, robots);
  return { load, gateway };
}
