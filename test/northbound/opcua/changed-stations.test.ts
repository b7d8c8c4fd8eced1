import {
  AttributeIds,
  BrowseDirection,
  constructEventFilter,
  type DataValue,
  StatusCodes,
  TimestampsToReturn,
} from "node-opcua";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { StationNode } from "../../../src/northbound/opcua/options.ts";
import { createLive, type LiveSource } from "../../../src/platform/live.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { robotChange } from "./changes.ts";
import { createFakeCommander, succeeded } from "./fake-commands.ts";
import { type Caller, openSession, type RunningServer, startServer } from "./opcua-harness.ts";
import { int32, text } from "./slots-harness.ts";

/** Stations that a reload adds and removes while clients are connected. */
const dock: StationNode = { name: "dock", needsPermit: false, load: null };
const gate: StationNode = { name: "gate", needsPermit: true, load: "CW" };
const robots = [{ robotId: "r1", alias: "AMR01", number: 7, family: "cart", conveyorIndexes: [0] }] as const;
let stations: LiveSource<readonly StationNode[]>;
let running: RunningServer;
let plc: Caller;
let commander = createFakeCommander();
let clock = createManualClock();

beforeEach(async () => {
  stations = createLive([]);
  commander = createFakeCommander();
  clock = createManualClock();
  running = await startServer({ robots, stations }, { commander, clock });
  running.server.write({ changes: [robotChange("r1", "good")], events: [] });
  plc = await openSession(running.url);
});
afterEach(async () => {
  await plc.close();
  await running.stop();
});

function change(...next: StationNode[]): void {
  stations.replace(next);
}
async function browsed(): Promise<readonly (string | null)[]> {
  const { references, statusCode } = await plc.session.browse({
    nodeId: "ns=2;s=Stations",
    browseDirection: BrowseDirection.Forward,
    referenceTypeId: "HasComponent",
    resultMask: 63,
  });
  return statusCode.isGood() ? (references ?? []).map(({ browseName }) => browseName.name) : [];
}
const number = (name: string) => plc.nextId(`Stations.${name}.Slot.NextId`);

it("has the nodes of a station as soon as it comes, the first too, and takes its commands", async () => {
  expect(await browsed()).toEqual([]);
  const hash = await plc.value("Gateway.ModelHash");
  change(dock, gate);
  expect(await browsed()).toEqual(["dock", "gate"]);
  expect(await plc.value("Stations.gate.Permit")).toBe(false);
  const ticket = await number("dock");
  const slot = (name: string) => `Stations.dock.Slot.${name}`;
  const codes = await plc.write(
    [slot("Robot"), text("AMR01")],
    [slot("Operation"), int32(1)],
    [slot("Destination"), text("Dock A")],
    [slot("RequestId"), int32(ticket)],
  );
  expect(codes.map(({ name }) => name)).toEqual(["Good", "Good", "Good", "Good"]);
  const submitted = await commander.next();
  submitted.stage("accepted");
  await plc.until(slot("AcceptedId"), ticket);

  // Its command has no outcome yet.
  expect(running.server.refusedStations([gate])).toEqual([
    { path: "stations.dock", reason: expect.stringContaining("no outcome yet") },
  ]);
  submitted.end(succeeded("m-1"));
  await plc.until(slot("DoneId"), ticket);
  expect(running.server.refusedStations([gate])).toEqual([]);
  clock.advance(1_000);
  expect(await plc.value("Gateway.ModelHash")).not.toBe(hash);
});

it("hides the nodes of a station that goes, and goes on with its numbers when it comes back", async () => {
  change(dock, gate);
  const first = await number("dock");
  const write = () => plc.write(["Stations.dock.Slot.RequestId", int32(-first)]);
  expect(await write()).toEqual([StatusCodes.Good]);
  change(gate);
  expect(await browsed()).toEqual(["gate"]);
  for (const name of ["dock", "dock.Valid", "dock.Slot.RequestId"])
    expect((await plc.read(`Stations.${name}`)).statusCode).toEqual(StatusCodes.BadNodeIdUnknown);
  expect(await write()).toEqual([StatusCodes.BadNodeIdUnknown]);
  change(dock, gate);
  expect((await browsed()).toSorted()).toEqual(["dock", "gate"]);
  expect(await number("dock")).not.toBe(first);
  expect(Array.from((await plc.value("Stations.dock.Slot.Closed")) as Int32Array)).toContain(first);
  const other = { ...dock, needsPermit: true };
  expect(running.server.refusedStations([other])).toEqual([
    { path: "stations.dock.permit", reason: expect.stringContaining("restart") },
  ]);
});

it("tells clients that watch a tag, or the model", async () => {
  change(dock);
  const subscription = await plc.session.createSubscription2({
    requestedPublishingInterval: 20,
    requestedLifetimeCount: 1000,
    requestedMaxKeepAliveCount: 100,
    publishingEnabled: true,
  });
  const seen: string[] = [];
  let wake = () => {};
  const note = (what: string) => {
    seen.push(what);
    wake();
  };
  const until = async (what: string) => {
    while (!seen.includes(what)) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  const tag = await subscription.monitor(
    { nodeId: "ns=2;s=Stations.dock.Valid", attributeId: AttributeIds.Value },
    { samplingInterval: 0, discardOldest: true, queueSize: 10 },
    TimestampsToReturn.Both,
  );
  tag.on("changed", (value: DataValue) => note(value.statusCode.name));
  const model = await subscription.monitor(
    { nodeId: "ns=0;i=2253", attributeId: AttributeIds.EventNotifier },
    { filter: constructEventFilter(["Changes"]), queueSize: 10 },
    TimestampsToReturn.Both,
  );
  model.on("changed", (fields: unknown) => {
    const [{ value }] = fields as [{ value: { verb: number; affected: object }[] }];
    for (const { verb, affected } of value) note(`${verb} ${affected}`);
  });
  await until("BadWaitingForInitialData");
  change(gate);
  await until("BadNodeIdInvalid");
  // Changes of a quarter of a second are one event.
  clock.advance(1_000);
  for (const what of ["8 ns=2;s=Stations", "2 ns=2;s=Stations.dock", "1 ns=2;s=Stations.gate"])
    await until(what);
  await subscription.terminate();
});
