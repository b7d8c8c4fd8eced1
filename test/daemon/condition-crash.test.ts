import { afterEach, expect, test, vi } from "vitest";
import {
  call,
  commentOf,
  eventIdOf,
  type Listener,
  listen,
  type Shown,
} from "../northbound/opcua/conditions/conditions-harness.ts";
import { type Caller, openSession } from "../northbound/opcua/opcua-harness.ts";
import { freePorts } from "../support/free-ports.ts";
import { type DegradedHarness, openDegradedHarness } from "./degraded-harness.ts";

const ROBOT = "cart-01";
const acknowledge = "AcknowledgeableConditionType_Acknowledge";
const cleanups: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** An alarm as every protocol shows it: its id, and who has acknowledged it. */
type Line = string;
interface AlarmJson {
  readonly id: string;
  readonly acknowledged_by: string | null;
}

const linesOf = (alarms: readonly AlarmJson[]): readonly Line[] =>
  alarms.map(({ id, acknowledged_by }) => `${id} ${acknowledged_by}`).sort();
/** An EventId has the id, the occurrence and the revision. */
const idOf = ({ EventId }: Shown) => String(EventId).replace(/\.\d+\.\d+$/, "");
const linesOfConditions = (events: readonly Shown[]): readonly Line[] =>
  events
    .map((event) => `${idOf(event)} ${event["AckedState.Id"] === true ? event.ClientUserId : null}`)
    .sort();

/** A client of the gateway's OPC UA server, with its list of alarms. */
async function openAlarmList(url: string): Promise<{ readonly caller: Caller; readonly listener: Listener }> {
  const caller = await openSession(url);
  cleanups.push(() => caller.close().catch(() => {}));
  return { caller, listener: await listen(caller) };
}

/** Expects the same alarms of a refresh, of MQTT and of HTTP. Returns the conditions. */
async function expectSameAlarms(
  { ear }: DegradedHarness,
  listener: Listener,
  webPort: number,
): Promise<readonly Shown[]> {
  let events: readonly Shown[] = [];
  // One of the three may be asked before a change has come to it.
  await vi.waitFor(async () => {
    events = await listener.refresh();
    const answer = await fetch(`http://127.0.0.1:${webPort}/api/v1/alarms`);
    const { alarms: ofHttp } = (await answer.json()) as { readonly alarms: readonly AlarmJson[] };
    const ofMqtt = JSON.parse(ear.texts("alarms").at(-1) ?? "") as { readonly alarms: readonly AlarmJson[] };
    expect(linesOf(ofHttp)).toEqual(linesOfConditions(events));
    expect(linesOf(ofMqtt.alarms)).toEqual(linesOfConditions(events));
  }, 20_000);
  return events;
}

test("an acknowledgement that was answered Good is there after kill -9, and the EventIds are the same", async () => {
  const port = await freePorts(2);
  const webPort = port + 1;
  const url = `opc.tcp://localhost:${port}`;
  const harness = await openDegradedHarness(undefined, {
    opcua: { listen: { port }, insecureLoopback: { role: "operator" } },
    web: { listen: { port: webPort } },
  });
  cleanups.push(() => harness.close());
  const { ear, simulator } = harness;
  const first = await harness.start();
  simulator.control.happen({ kind: "battery", robotId: ROBOT, percent: 15 });
  simulator.control.happen({ kind: "conveyor-health", robotId: ROBOT, index: 1, ok: false });
  await ear.on("alarms", (text) => text.includes("BATTERY_LOW") && text.includes("CONVEYOR_ERROR_1"));

  const { caller, listener } = await openAlarmList(url);
  const before = await expectSameAlarms(harness, listener, webPort);
  const of = (events: readonly Shown[], name: string) =>
    events.find(({ ConditionName }) => ConditionName === name) ?? {};
  const battery = of(before, "BATTERY");
  const { ConditionId } = battery;
  expect(await call(caller, ConditionId, acknowledge, eventIdOf(battery), commentOf("seen"))).toBe("Good");
  await first.kill();

  const from = ear.received.entries.length;
  await harness.start();
  await ear.on("alarms", (text) => text.includes("BATTERY_LOW"), from);
  const again = await openAlarmList(url);
  const after = await expectSameAlarms(harness, again.listener, webPort);
  expect(of(after, "CONVEYOR_ERROR_1").EventId).toBe(of(before, "CONVEYOR_ERROR_1").EventId);
  expect(of(after, "BATTERY")).toMatchObject({
    ...{ ConditionId, Comment: "seen", ClientUserId: "opcua:anonymous", "AckedState.Id": true },
    EventId: String(battery.EventId).replace(/\.1$/, ".2"),
  });
  const twice = await call(again.caller, ConditionId, acknowledge, eventIdOf(battery), commentOf(null));
  expect(twice).toBe("BadConditionBranchAlreadyAcked");
}, 180_000);
