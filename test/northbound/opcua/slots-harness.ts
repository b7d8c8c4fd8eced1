import type { VariantOptions } from "node-opcua";
import { afterEach, beforeEach } from "vitest";
import { createManualClock, type ManualClock } from "../../support/manual-clock.ts";
import { createFakeCommander, type FakeCommander } from "./fake-commands.ts";
import { createFakeDisk, type FakeDisk } from "./memory-store.ts";
import { type Caller, openSession, type RunningServer, startServer } from "./opcua-harness.ts";

const SLOT = "Robots.AMR01.MissionSlot";
const robots = [{ robotId: "r1", alias: "AMR01", family: "cart", number: 7, conveyorIndexes: [0] }] as const;
/** The server under test and a PLC's session to it, as the last start made them. */
export let clock: ManualClock;
export let commander: FakeCommander;
export let disk: FakeDisk;
export let running: RunningServer;
export let plc: Caller;

export async function start(changed: Parameters<typeof startServer>[1] = {}): Promise<void> {
  running = await startServer({ robots }, { clock, commander, openMemory: disk.open, ...changed });
  plc = await openSession(running.url);
}

export async function startAnew(changed: Parameters<typeof start>[0] = {}): Promise<void> {
  clock = createManualClock();
  commander = createFakeCommander();
  disk = createFakeDisk();
  await start(changed);
}

export async function stop(): Promise<void> {
  await plc.close();
  await running.stop();
}

export function eachWithItsServer(): void {
  beforeEach(() => startAnew());
  afterEach(stop);
}

export const int32 = (value: number): VariantOptions => ({ dataType: "Int32", value });
export const text = (value: string): VariantOptions => ({ dataType: "String", value });
export const texts = (value: string[]): VariantOptions => ({ dataType: "String", arrayType: "Array", value });
export const slot = (name: string) => `${SLOT}.${name}`;

export const nextId = () => plc.nextId(slot("NextId"));

/** Writes a navigate mission and its ticket in one request, the ticket first: its place must not matter. */
export async function navigate(ticket: number, destination = "Dock A") {
  return plc.write(
    [slot("RequestId"), int32(ticket)],
    [slot("Operation"), int32(1)],
    [slot("Destination"), text(destination)],
  );
}

/** The numbers that `Closed` shows, newest first. */
export async function closed(): Promise<readonly number[]> {
  return Array.from((await plc.value(slot("Closed"))) as Int32Array).filter((number) => number !== 0);
}

export async function shown(...names: string[]): Promise<unknown[]> {
  return Promise.all(names.map((name) => plc.value(slot(name))));
}
