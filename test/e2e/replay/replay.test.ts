import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fromJson } from "@bufbuild/protobuf";
import { status } from "@grpc/grpc-js";
import { afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { CreateMissionRequestSchema, FleetService } from "../../../src/wire/fleet/v1/service_pb.js";
import { type RunningSimulator, startSimulator } from "../../support/simulator.ts";
import { type RunningGateway, startGateway } from "../e2e-harness.ts";
import { listenMqtt, type MqttEar } from "../mqtt-ear.ts";
import { cartMission } from "./cart-mission.ts";
import { makeRecording } from "./make-recording.ts";
import { type Shown, shownBy, shows } from "./shown.ts";

/** `MAKE_RECORDING=yes npx vitest run test/e2e/replay` makes both anew. */
const recording = join(import.meta.dirname, "cart.fgrec");
const shownThen = join(import.meta.dirname, "cart.shown.json");
const SPEED = 10;

beforeAll(async () => {
  if (process.env.MAKE_RECORDING === "yes") await makeRecording(recording, shownThen);
}, 120_000);

let folder: string;
let service: RunningSimulator;
let gateway: RunningGateway;
let mqtt: MqttEar;
let ended: Promise<void>;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fleetgate-replay-"));
  let end = () => {};
  ended = new Promise((resolve) => {
    end = resolve;
  });
  service = await startSimulator({
    dataDir: join(folder, "fleet"),
    replay: { path: recording, speed: SPEED, onEnd: end },
  });
  gateway = await startGateway(folder, service.endpoints);
  mqtt = await listenMqtt(gateway.mqttUrl, "e2e", "fleetgate/e2e");
});
afterEach(async () => {
  await mqtt.close();
  await gateway.stop();
  await service.stop();
  await rm(folder, { recursive: true });
});

it("shows over MQTT what was shown when it was recorded", async () => {
  const then = JSON.parse(await readFile(shownThen, "utf8")) as Shown;
  expect(Object.keys(then.states).length).toBeGreaterThan(10);
  await ended;
  for (const [topic, state] of Object.entries(then.states))
    await mqtt.received.first(topic, (received) => shows(received, topic, state));
  const count = ({ events }: Shown) => Object.values(events).flat().length;
  const isAll = () => count(shownBy(mqtt)) >= count(then);
  await mqtt.received.first("the last event", ({ topic }) => topic.includes("/event/") && isAll());
  expect(shownBy(mqtt)).toEqual(then);
});

it("answers what was answered, once, and nothing else", async () => {
  const { call } = await service.client();
  const create = (goal: string) =>
    call(FleetService.method.createMission, fromJson(CreateMissionRequestSchema, cartMission(goal)));
  expect((await create("Station A")).missionId).toMatch(/^[0-9a-f-]{36}$/);
  const refused = { code: status.UNAVAILABLE, details: "the recording has no answer to this request" };
  await expect(create("Station A")).rejects.toMatchObject(refused);
  await expect(create("Station C")).rejects.toMatchObject(refused);
  const ask = () => call(FleetService.method.getConveyorIndex, { robotId: "cart-01" });
  expect((await ask()).indexes).toEqual([1, 2]);
  expect((await ask()).indexes).toEqual([1, 2]);
});
