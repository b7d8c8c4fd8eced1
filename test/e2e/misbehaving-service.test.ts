import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { create, type DescMessage, toBinary } from "@bufbuild/protobuf";
import mqtt from "mqtt";
import { expect, test } from "vitest";
import { about } from "../../src/fleet/operations/examples.ts";
import { methods } from "../../src/fleet/operations/method.ts";
import { pick, seededChance } from "../../src/simulator/world/chance.ts";
import { OnlineAMRInfoSchema } from "../../src/wire/fleet/http/v1/task_pb.js";
import {
  FleetService,
  SubscribeBatteryStatusResponseSchema,
  SubscribeConveyorStatusResponseSchema,
  SubscribeMissionStatusResponseSchema,
} from "../../src/wire/fleet/v1/service_pb.js";
import { startFleetSession } from "../support/fleet-rig.ts";
import { watchLoop } from "../support/loop-probe.ts";
import { type Script, type ScriptedService, startScriptedService } from "../support/scripted-service.ts";
import { type Worst, worstJson, worstMessage } from "../support/worst-message.ts";
import { startGateway } from "./house.ts";
import { openPlc } from "./plc.ts";

/** A run by hand goes on for so long; the others for a number of messages, whatever the machine. */
const minutes = Number(process.env.FLEETGATE_MISBEHAVE_MINUTES ?? 0);
const seed = Number(process.env.FLEETGATE_MISBEHAVE_SEED ?? 7);
const MESSAGES = 3_000;
/** Messages between two looks at the good robot. */
const ROUND = 200;
const PATIENCE_MS = 60_000;
/**
 * In processor time. Service, gateway and clients share one process here, and a collection of its garbage takes half a
 * second on a loaded machine. What the gateway reads is held to 50 ms in test/fleet/large-answers.test.ts.
 */
const LONGEST_TURN_MS = 1_500;
const MOST_GROWTH_BYTES = 60_000_000;

const STREAMS = {
  SubscribeMissionStatus: SubscribeMissionStatusResponseSchema,
  SubscribeBatteryStatus: SubscribeBatteryStatusResponseSchema,
  SubscribeConveyorStatus: SubscribeConveyorStatusResponseSchema,
} as const satisfies Record<string, DescMessage>;
type StreamName = keyof typeof STREAMS;
const streamNames = Object.keys(STREAMS) as [StreamName, ...StreamName[]];

const names = Array.from({ length: 12 }, (_, place) => `odd-${place}`) as [string, ...string[]];
type Ending = readonly [grpcStatus: string, grpcMessage: string];
const endings: readonly [Ending, ...Ending[]] = [
  ["0", ""],
  ["13", "x".repeat(5_000)],
  ["14", "%00%ff%"],
  ["99", "no code"],
  ["-1", ""],
  ["", ""],
  ["7", "denied"],
];

/** Another text with every question, where one is asked often. */
function misbehavingScript(worst: Worst, first: Script["streams"]): Script {
  const unary = Object.fromEntries(
    FleetService.methods
      .filter(({ methodKind }) => methodKind === "unary")
      .map(({ name, output }) => [name, () => worstMessage(output, worst)]),
  );
  const outputs = new Map(
    [...methods.values()].map(({ route, desc }) => [route.path.split("{")[0], desc.output]),
  );
  return {
    streams: first,
    unary,
    // The online list has the good robot, or is none: one that lacked it would rightly make it absent.
    http: { "/amr/onlineAmr": () => onlineList(worst) },
    anyHttp(path) {
      const output = [...outputs].find(([start]) => start !== undefined && path.startsWith(start))?.[1];
      const status = pick(worst.chance, [200, 200, 200, 200, 200, 200, 404, 500, 503]);
      return { status, text: output === undefined ? "" : worstJson(output, worst) };
    },
  };
}

function onlineList(worst: Worst): string {
  if (worst.chance() < 0.3)
    return pick(worst.chance, ["", "null", "[]", '{"robots":{}}', '{"robots":[', '{"robots":[{},]}']);
  const count = worst.chance() < 0.98 ? Math.floor(worst.chance() * 20) : 2_000;
  const others = Array.from({ length: count }, () => worstJson(OnlineAMRInfoSchema, worst, "whole"));
  return `{"robots":[${['{"id":"4711","name":"good","mapId":1}', ...others].join(",")}]}`;
}

/** The robot that everything must stay right for: each message is newer, and its charge is one that was sent. */
function createGoodRobot() {
  let sequence = 0;
  const metadata = () => {
    sequence += 1;
    return { timestamp: { seconds: BigInt(1_700_000_000 + sequence) }, sequenceNumber: BigInt(sequence) };
  };
  return {
    battery(): Uint8Array {
      const fields = {
        metadata: metadata(),
        robotId: "good",
        batteryState: { chargePercent: sequence, state: 2 },
      };
      return toBinary(
        SubscribeBatteryStatusResponseSchema,
        create(SubscribeBatteryStatusResponseSchema, fields),
      );
    },
    charge: () => sequence,
  };
}

interface Listener {
  /** The charge that was published last, with its quality. */
  charge(): { readonly percent: number; readonly quality: string } | null;
  /** What was published and should not have been. */
  readonly wrong: readonly string[];
  messages(): number;
  close(): Promise<void>;
}

/** A subscriber to everything, which keeps what it needs and no more. */
async function listenToAll(url: string): Promise<Listener> {
  const client = await mqtt.connectAsync(url, { reconnectPeriod: 0, protocolVersion: 4 }, false);
  const wrong: string[] = [];
  let charge: ReturnType<Listener["charge"]> = null;
  let messages = 0;
  client.on("message", (topic, payload) => {
    messages += 1;
    const text = payload.toString();
    if (wrong.length > 20 || text === "" || topic.endsWith("/availability")) return;
    try {
      const message = JSON.parse(text) as {
        quality?: string;
        state?: { battery_state?: { charge_percent: number } };
      };
      if (!topic.endsWith("robots/good/battery")) return;
      const percent = message.state?.battery_state?.charge_percent ?? -1;
      if (message.quality !== "lost" && percent < (charge?.percent ?? 0))
        wrong.push(`${topic} went back: ${text}`);
      charge = { percent, quality: message.quality ?? "" };
    } catch {
      wrong.push(`${topic} is no JSON: ${text.slice(0, 200)}`);
    }
  });
  await client.subscribeAsync("fleetgate/#", { qos: 0 });
  return { charge: () => charge, wrong, messages: () => messages, close: () => client.endAsync(true) };
}

/** Asks until nothing is missing. A stream that was ended costs the good robot's message, so it is sent again. */
async function until(what: string, again: () => void, missing: () => Promise<string | null>): Promise<void> {
  const startedMs = performance.now();
  for (let look = 0; ; look += 1) {
    const problem = await missing();
    if (problem === null) return;
    if (performance.now() - startedMs > PATIENCE_MS) throw new Error(`${what}: ${problem}`);
    if (look % 25 === 24) again();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
}

function misbehave(service: ScriptedService, worst: Worst, good: ReturnType<typeof createGoodRobot>): void {
  const { chance } = worst;
  const kind = chance();
  const method = pick(chance, streamNames);
  if (kind < 0.002) service.end(method, ...pick(chance, endings));
  else if (kind < 0.2) service.push("SubscribeBatteryStatus", good.battery());
  else service.push(method, worstMessage(STREAMS[method], worst));
}

const gateway =
  "the gateway lives through a service of which every field is at its worst, and a good robot stays right";
test(gateway, { timeout: (minutes * 60 + 240) * 1_000 }, async () => {
  const worst: Worst = { chance: seededChance(seed), names };
  const good = createGoodRobot();
  const first = (method: StreamName) => () => [worstMessage(STREAMS[method], worst)];
  const service = await startScriptedService(
    misbehavingScript(worst, {
      SubscribeMissionStatus: first("SubscribeMissionStatus"),
      SubscribeConveyorStatus: first("SubscribeConveyorStatus"),
      SubscribeBatteryStatus: () => [good.battery()],
    }),
  );
  const folder = await mkdtemp(join(tmpdir(), "fleetgate-misbehave-"));
  const times = {
    rosterPollMs: 200,
    taskChainPollMs: 200,
    refusedRetryMs: 1_000,
    backoffBaseMs: 20,
    backoffCapMs: 100,
  };
  const running = await startGateway(folder, service, {
    fleet: { times, families: { good: "cart", "odd-1": "cart" } },
  });
  const listener = await listenToAll(running.mqttUrl);
  const plc = await openPlc(running.opcuaUrl);
  const probe = watchLoop();
  const send = () => service.push("SubscribeBatteryStatus", good.battery());
  /** What is missing until both protocols show a charge that is no older than the one that was sent last. */
  const shows = (least: number) => async () => {
    const charge = listener.charge();
    if (charge === null || charge.percent < least)
      return `MQTT shows ${JSON.stringify(charge)}, not ${least}`;
    if (charge.quality !== "good") return `MQTT shows the quality ${charge.quality}`;
    const { value, status } = await plc.read("Robots.good.Battery.ChargePercent");
    return Number(value) >= least && status === "Good"
      ? null
      : `OPC UA shows ${value}, ${status}, not ${least}`;
  };
  const figures = async () => {
    const longestTurnMs = Math.round(probe.longestMs());
    collectGarbage();
    const { rss, heapUsed } = process.memoryUsage();
    // That of the collection is not the gateway's.
    await new Promise((resolve) => setTimeout(resolve, 20));
    probe.longestMs();
    return { rssBytes: rss, heapBytes: heapUsed, longestTurnMs };
  };

  let sent = 0;
  async function round(): Promise<void> {
    for (let message = 0; message < ROUND; message += 1) {
      misbehave(service, worst, good);
      // What is written in one turn the gateway reads in one: no more than some messages.
      if (message % 10 === 9) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    sent += ROUND;
    await until(`after ${sent} messages`, send, shows(good.charge()));
    const tags = [
      "RobotId",
      "Battery.ChargePercent",
      "Mission.State",
      "Mission.Id",
      "Quality",
      "Position.Code",
    ];
    // Names that are no tag are answered too; what counts is that reading never ends the gateway.
    await Promise.all(names.flatMap((name) => tags.map((tag) => plc.read(`Robots.${name}.${tag}`))));
  }

  await until("at the start", send, shows(good.charge()));
  while (sent < MESSAGES / 3) await round();
  const before = await figures();
  const endMs = performance.now() + minutes * 60_000;
  while (sent < MESSAGES || performance.now() < endMs) await round();
  const after = await figures();
  if (minutes > 0)
    process.stdout.write(`${JSON.stringify({ seed, sent, heard: listener.messages(), before, after })}\n`);

  expect(listener.wrong).toEqual([]);
  expect(after.longestTurnMs).toBeLessThan(LONGEST_TURN_MS);
  expect(after.heapBytes - before.heapBytes).toBeLessThan(MOST_GROWTH_BYTES);
  expect(
    running.log.entries.filter((line) => /"level":"fatal"|our bug|a northbound failed/.test(line)),
  ).toEqual([]);
  probe.stop();
  await plc.close();
  await listener.close();
  await running.stop();
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

test("every operation ends, whatever the service answers", { timeout: 120_000 }, async () => {
  const worst: Worst = { chance: seededChance(seed), names };
  const good = createGoodRobot();
  const script = misbehavingScript(worst, { SubscribeBatteryStatus: () => [good.battery()] });
  const service = await startScriptedService(script);
  const folder = await mkdtemp(join(tmpdir(), "fleetgate-misbehave-"));
  const rig = await startFleetSession(service, {
    cacheDirectory: folder,
    times: { rosterPollMs: null, taskChainPollMs: null },
  });
  await rig.event("battery");
  const endings = new Set<string>();
  for (let time = 0; time < 40; time += 1) {
    for (const [operation, { examples }] of about) {
      const ending = await rig.port.call(operation, JSON.stringify(examples[0]?.request), 10_000);
      endings.add(ending.kind);
      if (ending.kind !== "ok") continue;
      expect(() => JSON.parse(ending.responseJson), operation).not.toThrow();
      expect((ending.missionIds ?? []).every((id) => id.length <= 256)).toBe(true);
    }
  }
  expect([...endings].sort()).toEqual(["ok", "refused", "unknown"]);
  await rig.stop();
  await service.close();
  await rm(folder, { recursive: true, force: true });
});
