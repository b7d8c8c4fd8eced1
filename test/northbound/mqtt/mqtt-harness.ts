import mqtt, { type IClientOptions, type IPublishPacket, type MqttClient } from "mqtt";
import type { Intake } from "../../../src/commands/intake/intake.ts";
import type { RefusalAudit } from "../../../src/contracts/commander.ts";
import type { Catalogue, Operation } from "../../../src/contracts/operation.ts";
import type { StateChange } from "../../../src/domain/change.ts";
import type { Command, Effect } from "../../../src/domain/command.ts";
import type { Mission, MissionQueue } from "../../../src/domain/mission.ts";
import type { Quality, Stamp } from "../../../src/domain/observed.ts";
import type { Outcome } from "../../../src/domain/outcome.ts";
import type {
  EmbeddedBrokerOptions,
  ExternalBrokerOptions,
  MqttOptions,
} from "../../../src/northbound/mqtt/options.ts";
import { underBase } from "../../../src/northbound/mqtt/topic-templates.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { isJsonObject } from "../../../src/platform/json.ts";
import { createLive } from "../../../src/platform/live.ts";
import { createFakeExecution, createTestIntake } from "../../support/intake-harness.ts";

export const base = "fleetgate/test";

/** Takes refusals, and keeps none. */
export const noAudit: RefusalAudit = { refused() {} };

export const embedded: EmbeddedBrokerOptions = {
  kind: "embedded",
  host: "127.0.0.1",
  port: 0,
  anonymousLoopback: true,
  users: createLive([]),
  tls: createLive(null),
};

/** A broker of the plant, and those for when it is away. */
export function external(url: string, ...fallbacks: readonly string[]): ExternalBrokerOptions {
  return {
    kind: "external",
    url,
    setting: "mqtt.broker",
    fallbacks: fallbacks.map((other, index) => ({ url: other, setting: `mqtt.fallbackBrokers[${index}]` })),
    returnMs: 60_000,
    username: null,
    password: null,
    tls: createLive({ ca: null, clientCert: null }),
    tlsPaths: createLive({ ca: null, cert: null, key: null }),
  };
}

export function mqttOptions(changes: Partial<MqttOptions> = {}): MqttOptions {
  return {
    broker: embedded,
    protocolVersion: 4,
    base,
    gatewayId: "test",
    clientId: "fleetgate-test",
    placement: createLive(underBase),
    stateQos: 0,
    refreshMs: 60_000,
    tags: false,
    commands: {
      enabled: true,
      brokerEnforcesClientNames: true,
      requireExpiry: true,
    },
    ...changes,
  };
}

export const stamp: Stamp = {
  sourceTimeMs: Date.UTC(2026, 0, 2, 3, 4, 5, 6),
  sequence: 7,
  receivedAtMs: Date.UTC(2026, 0, 2, 3, 4, 5, 78),
};

export const mission: Mission = {
  missionId: "m1",
  state: "STATE_RUNNING",
  goals: [
    { kind: "destination", destinationId: 'Shelf "A"' },
    { kind: "pose", pose: { xMeters: 1.2, yMeters: -3, headingRadians: 0 } },
  ],
  currentGoalIndex: 1,
  feedback: { family: "cart", status: "STATUS_NAVIGATING" },
  type: { family: "cart", type: "CART_TYPE_TRAVERSE" },
  owner: "api",
};

export const queue: MissionQueue = { missions: [mission], currentMissionIndex: 0 };

export function missionChange(robotId: string, quality: Quality = "good", value = queue): StateChange {
  return { kind: "mission", robotId, observed: { value, stamp, quality } };
}

export const done: Outcome = {
  outcome: "succeeded",
  code: "OK",
  message: "",
  retrySafe: false,
  responseJson: '{"mission_id":"m1"}',
  missionId: "m1",
  evidence: null,
  duplicate: false,
};

/** An operation that demands a robot_id and knows no other field. */
function operation(name: string, effect: Effect): Operation {
  return {
    name,
    role: "operator",
    parse(json: unknown): ReturnType<Operation["parse"]> {
      if (!isJsonObject(json) || typeof json.robot_id !== "string")
        return { ok: false, problem: { path: "robot_id", message: "is missing" } };
      return {
        ok: true,
        request: {
          json: JSON.stringify({ robotId: json.robot_id }),
          payload: {},
          robotId: json.robot_id,
          effect,
          subject: { kind: "robot", robotId: json.robot_id },
          repeat: { kind: "never" },
          evidence: { kind: "none" },
          identityField: null,
          conveyors: null,
          switches: [],
          destination: null,
        },
      };
    },
  };
}

/** What no operation should do. */
function broken(): never {
  throw new Error("planted: a bug");
}

const catalogue: Catalogue = new Map([
  ["CreateMission", operation("CreateMission", "moves")],
  ["GetConveyorIndex", operation("GetConveyorIndex", "reads")],
  ["ControlConveyor", operation("ControlConveyor", "stops")],
  ["Broken", { ...operation("Broken", "reads"), parse: broken }],
]);

/** The real intake, before a dispatcher that records commands and answers what `answer` says. */
export function recordingCommander(
  answer: (command: Command) => Promise<Outcome> = () => Promise.resolve(done),
  parts: Partial<Parameters<typeof createTestIntake>[0]> = {},
): Intake & { readonly commands: Command[] } {
  const commands: Command[] = [];
  const execution = createFakeExecution((command) => {
    commands.push(command);
    return answer(command);
  });
  return { ...createTestIntake({ catalogue, clock: systemClock, execution, ...parts }), commands };
}

interface Received {
  readonly topic: string;
  readonly text: string;
  readonly packet: IPublishPacket;
}

/** A foreign MQTT client that keeps what it hears and can be asked to wait for it. */
export interface Listener {
  readonly client: MqttClient;
  readonly received: Received[];
  /** The first message, past or future, that the test accepts. */
  receive(test: (message: Received) => boolean): Promise<Received>;
  /** The first message on a topic under the base. */
  on(topic: string, test?: (message: Received) => boolean): Promise<Received>;
}

export async function listen(
  url: string,
  options: IClientOptions = {},
  filter = `${base}/#`,
): Promise<Listener> {
  const client = await mqtt.connectAsync(url, { reconnectPeriod: 0, ...options }, false);
  const received: Received[] = [];
  const waiting = new Set<(message: Received) => void>();
  client.on("message", (topic, payload, packet) => {
    const message = { topic, text: payload.toString(), packet };
    received.push(message);
    for (const look of waiting) look(message);
  });
  if (filter !== "") await client.subscribeAsync(filter, { qos: 1 });
  const receive = (test: (message: Received) => boolean) => {
    const known = received.find(test);
    if (known !== undefined) return Promise.resolve(known);
    return new Promise<Received>((resolve) => {
      const look = (message: Received) => {
        if (!test(message)) return;
        waiting.delete(look);
        resolve(message);
      };
      waiting.add(look);
    });
  };
  return {
    client,
    received,
    receive,
    on: (topic, test = () => true) =>
      receive((message) => message.topic === `${base}/${topic}` && test(message)),
  };
}

/** Runs a component until `stop`; rejects when it ends before it is ready. */
export async function start(component: {
  run(signal: AbortSignal, ready: () => void): Promise<void>;
}): Promise<() => Promise<void>> {
  const stopper = new AbortController();
  let ended: Promise<void> = Promise.resolve();
  await new Promise<void>((resolve, reject) => {
    ended = component.run(stopper.signal, resolve);
    ended.catch(reject);
  });
  return async () => {
    stopper.abort();
    await ended;
  };
}

/** Resolves when a client's connection is closed, whatever it says on the way. */
export function closed(client: MqttClient): Promise<void> {
  client.on("error", () => client.end(true));
  return new Promise((resolve) => client.once("close", () => resolve()));
}
