import type { StateChange } from "../../../src/domain/change.ts";
import type { FleetEvent } from "../../../src/domain/event.ts";
import type { Mission } from "../../../src/domain/mission.ts";
import { refusal } from "../../../src/domain/outcome.ts";
import { createMemberStatus } from "../../../src/northbound/mqtt/member-status.ts";
import { underBase } from "../../../src/northbound/mqtt/topic-templates.ts";
import { createLive } from "../../../src/platform/live.ts";
import { silentLog } from "../../../src/platform/log.ts";
import { createTestActs, noLeases } from "../../support/fake-acts.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { startPlantBroker } from "../../support/plant-broker.ts";
import { standingAlarm } from "../../support/test-alarms.ts";
import { createTestCluster } from "../../support/test-cluster.ts";
import { newBroker, newLink } from "./link-harness.ts";
import {
  done,
  external,
  type Listener,
  listen,
  mqttOptions,
  recordingCommander,
  start,
} from "./mqtt-harness.ts";

const NOW_MS = Date.UTC(2026, 0, 31, 12);
const SESSION = "5f0c1d5e-8a43-4f7e-9d52-0b6f3a1c7e90";
const ROBOT = "robot-17";
const stamp = { sourceTimeMs: NOW_MS - 250, sequence: 412, receivedAtMs: NOW_MS };
const source = { protocol: "mqtt", name: "hmi" } as const;
const common = { robotId: ROBOT, atMs: NOW_MS };

const mission: Mission = {
  missionId: "m-81",
  state: "STATE_RUNNING",
  goals: [{ kind: "destination", destinationId: "Dock 3" }],
  currentGoalIndex: 0,
  feedback: { family: "cart", status: "STATUS_NAVIGATING" },
  type: { family: "cart", type: "CART_TYPE_NAVIGATE" },
  owner: "api",
};
const conveyor = {
  index: 1,
  operation: "OPERATION_STATE_STOP",
  payload: "PAYLOAD_STATE_LOADED",
  health: "HEALTH_STATE_OK",
  installation: "INSTALLATION_STATE_INSTALLED",
} as const;
const alarm = {
  ...standingAlarm("BATTERY_CRITICAL", ROBOT),
  id: "BATTERY_CRITICAL-mf3k2q",
  text: "the battery has 10 % or less",
  sinceMs: NOW_MS,
};
const held = { isHeld: true, by: ["opcua:plc1"], isStored: true };

const observed = <T>(value: T) => ({ value, stamp, quality: "good" as const });

const changes: readonly StateChange[] = [
  { kind: "robot", robotId: ROBOT, family: "cart", quality: "good" },
  { kind: "mission", robotId: ROBOT, observed: observed({ missions: [mission], currentMissionIndex: 0 }) },
  {
    kind: "battery",
    robotId: ROBOT,
    observed: observed({
      chargePercent: 81,
      state: "STATE_DISCHARGING",
      chargeMethod: "CHARGE_METHOD_NONE",
    } as const),
  },
  { kind: "conveyor", robotId: ROBOT, observed: observed(conveyor) },
  {
    kind: "presence",
    robotId: ROBOT,
    observed: observed({
      amrId: 117,
      mapId: 1,
      position: "ST-A",
      stateId: "ROBOT_STATE_BUSY",
      taskChainId: 9,
      info: {
        id: "117",
        name: ROBOT,
        ip: "",
        area_id: 1,
        map_id: 1,
        map_name: "Hall 2",
        pos: "ST-A",
        state: "busy",
        state_id: "ROBOT_STATE_BUSY",
        load_status: "EMPTY",
        task_state: 1,
        task_chain_id: 9,
        task_id: 31,
        battery_percentile: 81,
        coordinate: { x: 12.5, y: 3.25, theta: 1.57 },
        materials: [],
        amr_exception: null,
        un_finish_route: null,
      },
    }),
  },
  { kind: "hold", robotId: ROBOT, hold: held },
  { kind: "hold_all", hold: { isHeld: false, by: [], isStored: true } },
  {
    kind: "map",
    mapId: 1,
    map: { readAtMs: NOW_MS, bytes: 85, json: vertexes() },
  },
  {
    kind: "task_chain",
    chainId: 9,
    observed: observed({
      chainId: 9,
      amrId: 117,
      taskSeq: "",
      status: "TASK_CHAIN_STATUS_EXECUTING",
      finished: false,
      info: {
        task_chain_state: { id: 9, amr_id: 117, task_seq: "", status: "TASK_CHAIN_STATUS_EXECUTING" },
        task_states: [
          {
            id: 31,
            task_type: "TASK_TYPE_LOAD",
            map_id: 1,
            end_point_code: "ST-A",
            status: "TASK_STATUS_EXECUTING",
          },
        ],
      },
    }),
  },
  {
    kind: "station",
    station: "dock",
    shown: {
      sight: {
        here: { robotId: ROBOT, hasArrived: true },
        quality: "good",
        count: 1,
        conveyors: [{ index: 1, isLoaded: true, isRolling: false }],
        conveyorQuality: "good",
        next: null,
        nextQuality: "good",
      },
      counters: {
        sinceMs: NOW_MS,
        cycles: 12,
        aborted: 0,
        waitingLastMs: 3_200,
        waitingTotalMs: 41_000,
        cycleLastMs: 30_500,
        cycleTotalMs: 370_000,
      },
    },
  },
];

const alarms: readonly StateChange[] = [
  { kind: "robot_alarms", robotId: ROBOT, alarms: [alarm], isOutOfService: false },
  { kind: "station_alarms", station: "dock", alarms: [alarm] },
  { kind: "alarms", alarms: [alarm] },
];

const events: readonly FleetEvent[] = [
  {
    ...common,
    kind: "mission",
    eventId: "e-1",
    missionId: "m-81",
    from: null,
    to: "STATE_RUNNING",
    owner: "api",
    command: { source, requestId: "42" },
  },
  {
    ...common,
    kind: "conveyor",
    eventId: "e-2",
    from: { ...conveyor, payload: "PAYLOAD_STATE_EMPTY" },
    to: conveyor,
  },
  {
    ...common,
    kind: "battery",
    eventId: "e-9",
    from: "STATE_DISCHARGING",
    to: "STATE_CHARGING",
    chargePercent: 23,
  },
  { ...common, kind: "alarm", eventId: "e-3", from: "inactive", to: "active", alarm },
  {
    ...common,
    kind: "command",
    eventId: "e-4",
    command: { source, requestId: "42" },
    operation: "CreateMission",
    from: "sent",
    outcome: done,
  },
  {
    ...common,
    kind: "lease",
    eventId: "e-5",
    station: "dock",
    owner: source,
    to: "leased",
    reason: "asked",
    by: source,
  },
  {
    ...common,
    kind: "hold",
    eventId: "e-6",
    owner: source,
    to: "free",
    by: { protocol: "opcua", name: "eva" },
  },
  {
    ...common,
    kind: "dropped",
    eventId: "e-8",
    source: null,
    count: 3,
    fromMs: NOW_MS - 60_000,
    toMs: NOW_MS - 1_000,
    reason: "too_many",
    historical: true,
  },
  {
    kind: "command",
    robotId: "",
    atMs: NOW_MS,
    eventId: "e-7",
    command: { source, requestId: "43" },
    operation: "DeleteWebhook",
    from: "received",
    outcome: refusal("NOT_ALLOWED", "no rule of rights lets mqtt:hmi do this"),
  },
];

function vertexes(): string {
  return '{"vertexes":[{"code":"ST-A","alias":"Station A","x":12.5,"y":3.25,"theta":1.57}]}';
}

/** A gateway that publishes the examples of docs/mqtt-reference.md, and a client that hears it. */
export interface ExamplesGateway {
  readonly client: Listener;
  close(): Promise<void>;
}

export const examplesBase = "fleetgate/plant1";

/** A member of a cluster has a broker of the plant. */
async function publishMember(): Promise<Listener["received"]> {
  const clock = createManualClock(NOW_MS);
  const plant = await startPlantBroker();
  const ear = await listen(plant.url, {}, `${examplesBase}/#`);
  const cluster = createTestCluster("box-b");
  cluster.change({ epoch: 5_012, leader: "box-a" });
  const options = mqttOptions({ broker: external(plant.url), base: examplesBase, gatewayId: "plant1" });
  const stop = await start(
    createMemberStatus(options, `${examplesBase}/members/box-b/status`, {
      cluster,
      sessionId: SESSION,
      builtAt: null,
      backoff: { baseMs: 10, capMs: 10 },
      clock,
      random: () => 0,
      log: silentLog,
    }),
  );
  await ear.receive(({ topic }) => topic.endsWith("/members/box-b/status"));
  await stop();
  await ear.client.endAsync(true);
  await plant.close();
  return ear.received;
}

export async function publishExamples(): Promise<ExamplesGateway> {
  const clock = createManualClock(NOW_MS);
  const broker = newBroker(undefined, examplesBase);
  const stopBroker = await start(broker);
  const client = await listen(`mqtt://127.0.0.1:${broker.port()}`, {}, `${examplesBase}/#`);
  const robots = [{ robotId: ROBOT, alias: "AMR01" }];
  const link = newLink({
    options: mqttOptions({
      base: examplesBase,
      gatewayId: "plant1",
      tags: true,
      placement: createLive({ ...underBase, robots }),
    }),
    sessionId: SESSION,
    clock,
    commander: recordingCommander(),
    acts: createTestActs({
      stations: { ...noLeases, leased: () => [ROBOT] },
      alarms: { find: (id) => (id === alarm.id ? alarm : undefined) },
    }),
    health: () => ({ fleet: { state: "up", figures: { streams: 9, clockSkewSeconds: 0.1 } } }),
    openBroker: broker.open,
  });
  const connection = await link.connect(new AbortController().signal);
  await connection.write({ changes: [...changes, ...alarms], events });
  clock.advance(1_000);
  clock.advance(1_000);
  client.received.push(...(await publishMember()));
  return {
    client,
    async close() {
      const closing = connection[Symbol.asyncDispose]();
      clock.advance(10_000);
      await closing;
      await client.client.endAsync(true);
      await stopBroker();
    },
  };
}
