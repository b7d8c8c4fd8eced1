import { pause, type SectionRun } from "../section-run.ts";
import { type ConsoleFleet, openReaders } from "./open.ts";

export const CHANGES_A_SECOND = 2_000;
export const CLIENTS = 5;
/** What the gateway does first is compiled then. */
const WARM_UP_MS = 15_000;
/** A snapshot is no change. */
const SETTLE_MS = 3_000;
/** Of the rate that was asked for. */
const ENOUGH = 0.95;
/** So that a drift of the machine falls on both. */
const ORDER = ["none", "clients", "clients", "none"] as const;

export interface StreamCost {
  /** Of a core, in each block. */
  readonly none: readonly number[];
  readonly clients: readonly number[];
  /** Of their medians. */
  readonly morePercent: number;
  readonly kilobytesASecond: number;
  readonly faults: readonly string[];
}

/** What the gateway costs with clients of its stream and without them, at the same rate of changes. */
export async function measureStream(
  run: SectionRun,
  fleet: ConsoleFleet,
  { rounds, seconds }: { readonly rounds: number; readonly seconds: number },
): Promise<StreamCost> {
  const readers = openReaders(run, fleet.gateway);
  const blocks = { none: [] as number[], clients: [] as number[] };
  const faults: string[] = [];
  let bytes = 0;
  const sentBefore = await fleet.rate(CHANGES_A_SECOND);
  const beganMs = performance.now();
  await readers.read(CLIENTS);
  await pause(WARM_UP_MS);
  for (const kind of Array.from({ length: rounds }, () => ORDER).flat()) {
    const clients = kind === "clients" ? CLIENTS : 0;
    await readers.read(clients);
    await pause(SETTLE_MS);
    await readers.read(clients);
    blocks[kind].push(await percentOf(fleet, seconds));
    const read = await readers.read(clients);
    bytes += read.bytes;
    if (read.ended > 0) faults.push(`${read.ended} of the stream's clients were closed`);
    if (clients > 0 && read.changes < seconds * CLIENTS) faults.push("the stream told hardly any change");
  }
  await readers.read(0);
  const sent = (await fleet.rate(0)) - sentBefore;
  const rate = (1_000 * sent) / (performance.now() - beganMs);
  if (rate < ENOUGH * CHANGES_A_SECOND) faults.push(`only ${Math.round(rate)} changes a second were sent`);
  return {
    ...blocks,
    morePercent: meanOf(blocks.clients) - meanOf(blocks.none),
    kilobytesASecond: bytes / 1_000 / (seconds * blocks.clients.length) / CLIENTS,
    faults,
  };
}

async function percentOf({ gateway: { child } }: ConsoleFleet, seconds: number): Promise<number> {
  const [before, beganMs] = [child.cpuMicros(), performance.now()];
  await pause(seconds * 1_000);
  return (child.cpuMicros() - before) / 10 / (performance.now() - beganMs);
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
