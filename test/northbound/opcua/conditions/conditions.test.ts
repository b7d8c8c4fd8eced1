import { afterEach, beforeEach, expect, it } from "vitest";
import { ofGateway } from "../../../../src/domain/alarm.ts";
import type { Caller } from "../opcua-harness.ts";
import {
  CERTIFICATE_END_MS,
  type ConditionsHarness,
  type Listener,
  listen,
  robot,
  startConditions,
} from "./conditions-harness.ts";

let harness: ConditionsHarness;
let ann: Caller;
let all: Listener;
beforeEach(async () => {
  harness = await startConditions();
  ann = await harness.client("ann");
  all = await listen(ann);
});
afterEach(() => harness[Symbol.asyncDispose]());

const named = (name: string) => (event: { readonly [field: string]: unknown }) =>
  event.ConditionName === name;

it("tells of an alarm with all that Part 9 and a person want to know", async () => {
  harness.set(robot("r1"), "ROBOT_LOST", true, "nothing is known of it");
  expect(await all.until(named("ROBOT_LOST"))).toMatchObject({
    EventType: "ns=2;s=FleetAlarmType",
    SourceNode: "ns=2;s=Robots.r1",
    SourceName: "r1",
    ConditionId: "ns=2;s=Robots.r1.Alarms.ROBOT_LOST",
    ConditionClassName: "ProcessConditionClassType",
    Message: "nothing is known of it",
    Severity: 500,
    LastSeverity: 0,
    BranchId: null,
    Retain: true,
    "EnabledState.Id": true,
    "ActiveState.Id": true,
    ActiveState: "Active",
    "AckedState.Id": false,
    AckedState: "Unacknowledged",
    "ConfirmedState.Id": null,
    "OutOfServiceState.Id": false,
    SuppressedOrShelved: false,
    Quality: "Good",
    InputNode: "ns=2;s=Robots.r1.Quality",
    Comment: null,
    ClientUserId: null,
    "2:Advice": "go and look, and keep clear: it may move; switch it on, or call whoever runs the network",
  });
});

it("follows an alarm to its end, each change under an EventId of its own", async () => {
  harness.set(robot("r1"), "ROBOT_LOST", true);
  const [alarm] = harness.registry.all();
  harness.registry.acknowledge(alarm?.id ?? "", { protocol: "mqtt", name: "hmi" }, "seen");
  harness.publish();
  harness.set(robot("r1"), "ROBOT_LOST", false);
  await all.until(({ Retain }) => Retain === false);
  const states = all.events.map((event) => [
    ...[event["ActiveState.Id"], event["AckedState.Id"], event.Retain, event.ClientUserId, event.Comment],
  ]);
  expect(states).toEqual([
    [true, false, true, null, null],
    [true, true, true, "mqtt:hmi", "seen"],
    [false, true, false, "mqtt:hmi", "seen"],
  ]);
  expect(new Set(all.events.map(({ EventId }) => EventId)).size).toBe(3);
  expect(await all.refresh()).toEqual([]);
});

it("has one condition for a low and a critical battery", async () => {
  harness.set(robot("r1"), "BATTERY_LOW", true, "20 %");
  await all.until(named("BATTERY"));
  Object.assign(harness.limits, { low: 25, critical: 12 });
  harness.registry.state(robot("r1"), "BATTERY_CRITICAL", { holds: true, text: "10 %" });
  await new Promise((resolve) => setTimeout(resolve, 2_050));
  harness.publish();
  await all.until(({ Severity }) => Severity === 600);
  const shown = all.events.map((event) => [
    ...[event.ConditionId, event.EventType, event["LimitState.CurrentState"], event.LastSeverity],
    ...[event.LowLimit, event.LowLowLimit],
  ]);
  const [id, type] = ["ns=2;s=Robots.r1.Alarms.BATTERY", "ns=2;s=BatteryAlarmType"];
  expect(shown).toEqual([
    [id, type, "Low", 0, 20, 10],
    [id, type, "LowLow", 300, 25, 12],
  ]);
  expect(await all.refresh()).toEqual([all.events[1]]);
});

it("has the end of the certificate that ends first", async () => {
  harness.set(ofGateway, "CERTIFICATE_EXPIRES", true);
  expect(await all.until(named("CERTIFICATE_EXPIRES"))).toMatchObject({
    EventType: "ns=2;s=CertificateAlarmType",
    ExpirationDate: new Date(CERTIFICATE_END_MS),
    LowLimit: null,
  });
});

it("ends what only an acknowledgement ends, and what rests with its robot", async () => {
  harness.set(robot("r1"), "OUTCOME_UNKNOWN", true);
  harness.set(robot("r1"), "FOREIGN_MISSIONS", true);
  const unknown = harness.registry.all().find(({ code }) => code === "OUTCOME_UNKNOWN");
  harness.registry.acknowledge(unknown?.id ?? "", { protocol: "cli", name: "root" });
  harness.publish();
  expect(await all.until((each) => named("OUTCOME_UNKNOWN")(each) && each.Retain === false)).toMatchObject({
    "ActiveState.Id": false,
    "AckedState.Id": true,
  });
  harness.registry.putOutOfService("r1", true);
  harness.publish();
  expect(await all.until((each) => named("FOREIGN_MISSIONS")(each) && each.Retain === false)).toMatchObject({
    "OutOfServiceState.Id": true,
    SuppressedOrShelved: true,
    "ActiveState.Id": false,
  });
  expect(await all.refresh()).toEqual([]);
});

it("of a robot that goes out of service ends with one event", async () => {
  harness.set(robot("r1"), "ROBOT_LOST", true);
  await all.until(({ Retain }) => Retain === true);
  harness.registry.putOutOfService("r1", true);
  harness.publish();
  await all.until(({ Retain }) => Retain === false);
  expect(await all.refresh()).toEqual([]);
  const states = all.events.flatMap((event) =>
    event.ConditionName === "ROBOT_LOST"
      ? [[event["ActiveState.Id"], event["AckedState.Id"], event.Retain, event["OutOfServiceState.Id"]]]
      : [],
  );
  expect(states).toEqual([
    [true, false, true, false],
    [false, true, false, true],
  ]);
});

it("is heard where its source is heard, and nowhere else", async () => {
  const [ofRobot, ofDock] = await Promise.all([
    listen(ann, { nodeId: "ns=2;s=Robots.r1" }),
    listen(ann, { nodeId: "ns=2;s=Stations.dock" }),
  ]);
  harness.set(robot("r1"), "ROBOT_LOST", true);
  harness.set(ofGateway, "DISK_FULL", true);
  harness.set({ kind: "station", station: "dock" }, "FOREIGN_MISSIONS", true);
  const names = (events: readonly { readonly [field: string]: unknown }[]) =>
    events.map(({ ConditionId }) => String(ConditionId).replace("ns=2;s=", "")).sort();
  const dock = "Stations.dock.Alarms.FOREIGN_MISSIONS";
  expect(names(await all.refresh())).toEqual([
    "Gateway.Alarms.DISK_FULL",
    "Robots.r1.Alarms.ROBOT_LOST",
    dock,
  ]);
  expect(names(await ofRobot.refresh())).toEqual(["Robots.r1.Alarms.ROBOT_LOST"]);
  expect(names(await ofDock.refresh())).toEqual([dock]);
});
