import { afterEach, beforeEach, expect, it } from "vitest";
import { methodModels } from "../../../src/northbound/opcua/commands/method-models.ts";
import { modelHash } from "../../../src/northbound/opcua/model-hash.ts";
import type { KnownRobot } from "../../../src/northbound/opcua/options.ts";
import { layoutOf } from "../../../src/northbound/opcua/plant-layout.ts";
import { createLive, type LiveSource } from "../../../src/platform/live.ts";
import { nowOf } from "../../support/live.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { robotChange } from "./changes.ts";
import { createFakeCommander, fakeCatalogue, succeeded } from "./fake-commands.ts";
import { type Caller, opcUaOptions, openSession, type RunningServer, startServer } from "./opcua-harness.ts";
import { int32, text } from "./slots-harness.ts";

/** Robots that a reload describes while clients are connected. */
const described = (robotId: string, changed: Partial<KnownRobot> = {}): KnownRobot => ({
  ...{ robotId, alias: null, number: null, family: "unknown", conveyorIndexes: [] },
  ...changed,
});
const first = described("r1", { alias: "AMR01" });
const stations = [{ name: "dock", needsPermit: false, load: null }] as const;
const limits = { ...opcUaOptions().limits, maxRobots: 4 };
let robots: LiveSource<readonly KnownRobot[]>;
let running: RunningServer;
let plc: Caller;
let commander = createFakeCommander();
let clock = createManualClock();

beforeEach(async () => {
  robots = createLive([first]);
  commander = createFakeCommander();
  clock = createManualClock();
  running = await startServer({ robots, stations, limits }, { commander, clock });
  running.server.write({ changes: [robotChange("heard", "good")], events: [] });
  plc = await openSession(running.url);
});
afterEach(async () => {
  await plc.close();
  await running.stop();
});

function add(...more: KnownRobot[]): void {
  robots.replace([...robots.now(), ...more]);
}
const refused = (...more: KnownRobot[]) =>
  running.server
    .refusedRobots([first, ...more], (robotId) => robotId === "heard" || robotId === "elsewhere")
    .map(({ robotId, key }) => `${robotId} ${key}`);

it("has the nodes of a robot under its alias as soon as it is described, and the export's number", async () => {
  const more = described("r2", { alias: "AMR02", number: 2, conveyorIndexes: [1] });
  expect(refused(more)).toEqual([]);
  add(more);
  expect(await plc.value("Robots.AMR02.RobotId")).toBe("r2");
  expect((await plc.read("Robots.AMR02.Conveyors.1.Operation")).statusCode.name).toBe(
    "BadWaitingForInitialData",
  );
  clock.advance(1_000);
  const exported = modelHash(
    layoutOf(nowOf(opcUaOptions({ robots: [first, more], stations, limits }))),
    methodModels(fakeCatalogue()),
  );
  expect(await plc.value("Gateway.ModelHash")).toBe(exported);

  // What is received of it from now on is shown there.
  running.server.write({ changes: [robotChange("r2", "good")], events: [] });
  expect(await plc.value("Robots.AMR02.Valid")).toBe(true);
  expect((await plc.read("Robots.r2.Valid")).statusCode.name).toBe("BadNodeIdUnknown");
});

it("is found by the slot of a station, by its alias and its number", async () => {
  add(described("r2", { alias: "AMR02", number: 2, family: "cart" }));
  running.server.write({ changes: [robotChange("r2", "good")], events: [] });
  const slot = (name: string) => `Stations.dock.Slot.${name}`;
  const ticket = await plc.nextId(slot("NextId"));
  await plc.write(
    [slot("RobotNo"), int32(2)],
    [slot("Operation"), int32(1)],
    [slot("Destination"), text("Dock A")],
    [slot("RequestId"), int32(ticket)],
  );
  const submitted = await commander.next();
  expect(submitted.command.robotId).toBe("r2");
  submitted.end(succeeded("m-1"));
  await plc.until(slot("DoneId"), ticket);
});

it("gives a robot that is heard of later another name, if its id is the new alias", async () => {
  add(described("r2", { alias: "AMR02" }));
  running.server.write({ changes: [robotChange("AMR02", "good")], events: [] });
  expect(await plc.value("Robots.AMR02.RobotId")).toBe("r2");
  expect(await plc.value("Robots.AMR02~id.RobotId")).toBe("AMR02");
});

it.each<[string, KnownRobot[], string[]]>([
  ["an alias of a robot that was heard of", [described("heard", { alias: "AMR02" })], ["heard alias"]],
  ["what is not shown yet", [described("elsewhere", { alias: "AMR02" })], ["elsewhere alias"]],
  [
    "a number and conveyors of it",
    [described("heard", { number: 3, conveyorIndexes: [1] })],
    ["heard number", "heard conveyors"],
  ],
  ["nothing, for a robot that is only named", [described("heard")], []],
  ["an alias that is the id of another robot", [described("r2", { alias: "heard" })], ["r2 alias"]],
  ["more robots than may have nodes", [described("r2"), described("r3"), described("r4")], ["r4 null"]],
])("refuses %s", (_what, more, keys) => {
  expect(refused(...more)).toEqual(keys);
});

it("refuses another alias of a robot that is described", () => {
  const other = { ...first, alias: "AMR09" };
  expect(running.server.refusedRobots([other], () => false)).toEqual([
    { robotId: "r1", key: "alias", reason: "restart to change it: the robot has its nodes already" },
  ]);
});
