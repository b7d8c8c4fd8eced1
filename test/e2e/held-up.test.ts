import mqtt from "mqtt";
import { expect, test } from "vitest";
import { createManualClock } from "../support/manual-clock.ts";
import { openE2eHarness } from "./e2e-harness.ts";

const ROBOT = "cart-01";
const HEARTBEAT_MS = 2_000;

test("a station whose heartbeat came while the gateway was held up keeps its lease", async () => {
  // The world stands still: the robot heads for the station until the test is over.
  const harness = await openE2eHarness(
    { clock: createManualClock(Date.now()), timeFactor: 1 },
    { stations: { dock: { destinations: ["Station A"], heartbeatMs: HEARTBEAT_MS } } },
  );
  await harness.plc.shows(`Robots.${ROBOT}.Valid`, true);
  const client = await mqtt.connectAsync(harness.mqttUrl, { reconnectPeriod: 0 });
  const topic = "fleetgate/e2e/clients/e2e/command";
  const tell = async (act: string, id: string, more: object) => {
    const text = JSON.stringify({ id, station: "dock", ...more });
    await client.publishAsync(`${topic}/${act}`, text, { qos: 1 });
    return JSON.parse(await harness.mqtt.replyText(id));
  };
  const mission = { baseMission: { navigateMission: { goal: { destinationId: "Station A" } } } };
  await harness.mqtt.send("CreateMission", "to-dock", { robotId: ROBOT, mission });
  await harness.mqtt.on(`robots/${ROBOT}/mission`, (state) => state.includes('"STATE_RUNNING"'));
  expect(await tell("LeaseRobot", "ask", { robot_id: ROBOT })).toMatchObject({
    response: { leased: [ROBOT] },
  });
  await tell("Heartbeat", "first", { counter: 1 });

  client.publish(`${topic}/Heartbeat`, JSON.stringify({ id: "second", station: "dock", counter: 2 }));
  // The client writes at the end of this turn; then nothing in this process runs for longer than a heartbeat.
  await new Promise<void>((resolve) =>
    process.nextTick(() => {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, HEARTBEAT_MS + 300);
      resolve();
    }),
  );
  expect(await tell("Heartbeat", "third", { counter: 3 })).toMatchObject({ response: { leased: [ROBOT] } });
  expect(harness.mqtt.texts(`robots/${ROBOT}/event/lease`)).toHaveLength(1);
  await client.endAsync(true);
  await harness.close();
}, 60_000);
