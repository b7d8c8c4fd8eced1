import mqtt from "mqtt";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type E2eHarness, openIdleHarness } from "./e2e-harness.ts";
import { text } from "./plc.ts";

const ROBOT = "cart-01";
const BASE = "fleetgate/e2e";

interface Shown {
  readonly count: number;
  readonly out_of_service?: boolean;
  readonly alarms: ReadonlyArray<Readonly<Record<string, unknown>> & { readonly id: string }>;
}

let harness: E2eHarness;
let asked = 0;

beforeAll(async () => {
  harness = await openIdleHarness(5, { timeFactor: 1 });
  await harness.plc.shows(`Robots.${ROBOT}.Valid`, true);
});
afterAll(() => harness.close());

/** What somebody reads who comes only now. */
async function late(topic: string): Promise<Shown> {
  const client = await mqtt.connectAsync(harness.mqttUrl, { reconnectPeriod: 0 });
  const read = new Promise<Shown>((resolve) => {
    client.on("message", (_topic, payload) => resolve(JSON.parse(payload.toString())));
  });
  await client.subscribeAsync(`${BASE}/${topic}`);
  const shown = await read;
  await client.endAsync(true);
  return shown;
}

/** Publishes an act, and gives the answer. */
async function tell(act: string, fields: object): Promise<unknown> {
  const client = await mqtt.connectAsync(harness.mqttUrl, { reconnectPeriod: 0 });
  asked += 1;
  const payload = JSON.stringify({ id: `a${asked}`, ...fields });
  await client.publishAsync(`${BASE}/clients/e2e/command/${act}`, payload, { qos: 1 });
  await client.endAsync(true);
  return JSON.parse(await harness.mqtt.replyText(`a${asked}`));
}

const ofRobot = ({ alarms }: Shown) => alarms.filter(({ source }) => source === "robot");
const lists = (code: string) => (payload: string) =>
  (JSON.parse(payload) as Shown).alarms.some((alarm) => alarm.code === code);

test("an alarm stands for whoever comes late, and is acknowledged from MQTT and from a PLC", async () => {
  expect(await late(`robots/${ROBOT}/alarms`)).toMatchObject({ robot_id: ROBOT, count: 0, alarms: [] });
  harness.simulator().control.happen({ kind: "battery", robotId: ROBOT, percent: 8 });
  await harness.mqtt.on(`robots/${ROBOT}/alarms`, lists("BATTERY_CRITICAL"));
  const shown = await late(`robots/${ROBOT}/alarms`);
  expect(shown.alarms).toMatchObject([
    { code: "BATTERY_CRITICAL", severity: 600, active: true, acknowledged_by: null },
    { code: "BATTERY_LOW", severity: 300, active: true },
  ]);
  // Of all there may be more: a start on a busy machine may take longer than the service may be away.
  expect(ofRobot(await late("alarms")).map(({ id }) => id)).toEqual(shown.alarms.map(({ id }) => id));
  await harness.plc.shows(`Robots.${ROBOT}.Alarms.HighestSeverity`, 600);

  const [critical, low] = shown.alarms.map(({ id }) => id);
  expect(await tell("AcknowledgeAlarm", { alarm_id: critical })).toMatchObject({ outcome: "succeeded" });
  expect(await harness.plc.write([`Robots.${ROBOT}.Alarms.Ack`, text(low ?? "")])).toEqual(["Good"]);
  const isAcknowledged = (payload: string) => {
    const { alarms } = JSON.parse(payload) as Shown;
    return alarms.length === 2 && alarms.every((alarm) => alarm.acknowledged_by !== null);
  };
  const acknowledged: Shown = JSON.parse(
    (await harness.mqtt.on(`robots/${ROBOT}/alarms`, isAcknowledged)).text,
  );
  expect(acknowledged.alarms.map((alarm) => alarm.acknowledged_by)).toEqual(["mqtt:e2e", "opcua:anonymous"]);

  harness.simulator().control.happen({ kind: "battery", robotId: ROBOT, percent: 90 });
  await harness.plc.shows(`Robots.${ROBOT}.Alarms.Count`, 0);
  expect(await late(`robots/${ROBOT}/alarms`)).toMatchObject({ count: 0 });
  const audited = async () => (await harness.audit()).filter(({ event }) => event === "alarm");
  await expect
    .poll(async () => (await audited()).map(({ alarm, protocol }) => [alarm, protocol]))
    .toEqual([
      ["acknowledged", "mqtt"],
      ["acknowledged", "opcua"],
    ]);
});

test("a robot out of service has no alarms, and takes commands", async () => {
  expect(await tell("SetOutOfService", { robot_id: ROBOT, out_of_service: true })).toMatchObject({
    code: "OK",
  });
  await harness.plc.shows(`Robots.${ROBOT}.Alarms.OutOfService`, true);
  harness.simulator().control.happen({ kind: "battery", robotId: ROBOT, percent: 8 });
  await harness.plc.shows(`Robots.${ROBOT}.Battery.ChargePercent`, 8);
  expect(await late(`robots/${ROBOT}/alarms`)).toMatchObject({ out_of_service: true, count: 0 });
  const back = { dataType: "Boolean", value: false } as const;
  expect(await harness.plc.write([`Robots.${ROBOT}.Alarms.OutOfService`, back])).toEqual(["Good"]);
  await harness.mqtt.on(`robots/${ROBOT}/alarms`, lists("BATTERY_LOW"), harness.mqtt.received.entries.length);
  expect(await late(`robots/${ROBOT}/alarms`)).toMatchObject({ out_of_service: false });
});

test("a service that is away is one alarm", async () => {
  const from = harness.mqtt.received.entries.length;
  await harness.stopService();
  await harness.mqtt.on("alarms", lists("FLEET_LINK_DOWN"), from);
  const codes = (await late("alarms")).alarms.map(({ code }) => code);
  expect(codes.filter((code) => code !== "BATTERY_LOW" && code !== "BATTERY_CRITICAL")).toEqual([
    "FLEET_LINK_DOWN",
  ]);
  await harness.startService();
});
