import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import mqtt from "mqtt";
import { AttributeIds, DataType, Variant, VariantArrayType } from "node-opcua";
import type { RecordEntry } from "../../src/simulator/world/record.ts";
import type { Box } from "../../test/cluster/chaos/box.ts";
import { CLUSTER } from "../../test/cluster/chaos/box.ts";
import { nodeIdOf, openPlantSession, type PlantSession } from "../opcua/session.ts";
import type { ClusterBench } from "./open.ts";
import { send } from "./start.ts";

/** Stops of one kind: from the moment when each was given to a box to its arrival at the service. */
export interface StopTimes {
  readonly what: string;
  readonly tookMs: readonly number[];
  /** They did not arrive while they were waited for. */
  readonly lost: number;
}

type Give = (robotId: string) => Promise<unknown>;

const LOST_MS = 5_000;
const LOOK_MS = 2;
const PACE_MS = 50;
/** A stop is sent a second time sooner than this. */
const CALM_MS = 4_000;
/** Until a leader without etcd knows that it has no proof, and a member of etcd that it has no majority. */
const CUT_MS = 7_000;
const CONVEYOR = 1;
const STOP = 1;
const COMMAND_LENGTH = 12;

/** Both boxes are there and one leads. Leaves them whole. */
export async function measureStops(bench: ClusterBench): Promise<readonly StopTimes[]> {
  const { scene, plant } = bench;
  const times: StopTimes[] = [];
  const measure = async (what: string, give: Give, isCalm = true) =>
    void times.push(await timesOf(bench, what, give, isCalm));
  const bySocket =
    (box: Box): Give =>
    (robotId) =>
      send(box, robotId, "STOP");
  await scene.whole();
  const leader = scene.leader();
  const standby = scene.boxes.find((box) => box !== leader) as Box;
  const slots = await openPlantSession(bench.plant.opcuaPort(standby.name));
  const client = await mqtt.connectAsync(plant.brokerUrl, { clientId: `bench-stops-${randomUUID()}` });
  try {
    await measure("all is well: MQTT", byMqtt(client));
    await measure("all is well: control socket of the leader", bySocket(leader));
    await measure("all is well: control socket of the standby", bySocket(standby));
    await measure("all is well: slots of the standby", bySlot(slots));

    await wait(CALM_MS);
    await Promise.all(scene.etcd.members.map((member) => member.kill()));
    // As long as the leader has its proof.
    await measure("etcd has just died: MQTT", byMqtt(client), false);
    await wait(CUT_MS);
    await measure("etcd is down: control socket of the box that led", bySocket(leader));
    await measure("etcd is down: control socket of the standby", bySocket(standby));
    await measure("etcd is down: slots of the standby", bySlot(slots));
    await leader.kill();
    await measure("etcd and the leader are down: control socket of the standby", bySocket(standby));
    await measure("etcd and the leader are down: slots of the standby", bySlot(slots));
    await Promise.all(scene.etcd.members.map((member) => member.start()));
    await scene.whole();
  } finally {
    await client.endAsync(true);
    await slots.close();
  }
  times.push(...(await withoutLeader(bench)));
  return times;
}

/** The leader has just died: nobody leads for as long as the lease lasts. */
async function withoutLeader(bench: ClusterBench): Promise<readonly StopTimes[]> {
  const { scene } = bench;
  const times: StopTimes[] = [];
  for (const way of ["control socket", "slots"] as const) {
    await scene.whole();
    const leader = scene.leader();
    const standby = scene.boxes.find((box) => box !== leader) as Box;
    const slots = await openPlantSession(bench.plant.opcuaPort(standby.name));
    await wait(CALM_MS);
    await leader.kill();
    const give: Give = way === "slots" ? bySlot(slots) : (robotId) => send(standby, robotId, "STOP");
    times.push(await timesOf(bench, `the leader has just died: ${way} of the standby`, give, false));
    await slots.close();
  }
  await scene.whole();
  return times;
}

/** One stop for each robot. Stops of before may be sent a second time: they are waited for. */
async function timesOf(
  { scene, busy }: ClusterBench,
  what: string,
  give: Give,
  isCalm = true,
): Promise<StopTimes> {
  const givenAtMs = new Map<string, number>();
  const arrivedAtMs = new Map<string, number>();
  let since = scene.log.read();
  let lastAtMs = performance.now();
  const look = () => {
    const entries = scene.simulator.control.record(since);
    since = entries.at(-1)?.seq ?? since;
    for (const { robotId, fact } of entries) {
      if (!isStop(fact)) continue;
      lastAtMs = performance.now();
      if (givenAtMs.has(robotId) && !arrivedAtMs.has(robotId)) arrivedAtMs.set(robotId, lastAtMs);
    }
  };
  const looking = setInterval(look, LOOK_MS);
  try {
    while (isCalm && performance.now() < lastAtMs + CALM_MS) await wait(LOOK_MS);
    for (const { id } of busy) {
      givenAtMs.set(id, performance.now());
      void give(id);
      await wait(PACE_MS);
    }
    const untilMs = performance.now() + LOST_MS;
    while (arrivedAtMs.size < givenAtMs.size && performance.now() < untilMs) await wait(LOOK_MS);
  } finally {
    clearInterval(looking);
  }
  const tookMs = [...arrivedAtMs].map(([id, atMs]) => atMs - (givenAtMs.get(id) ?? Number.NaN));
  return { what, tookMs, lost: givenAtMs.size - arrivedAtMs.size };
}

function isStop(fact: RecordEntry["fact"]): boolean {
  return fact.what === "received" && JSON.stringify(fact.request).includes("CONVEYOR_MOTOR_STOP");
}

function byMqtt(client: mqtt.MqttClient): Give {
  const base = `fleetgate/${CLUSTER}/clients/bench/command/ControlConveyor`;
  return (robotId) => {
    const commands = [{ index: CONVEYOR, command: "COMMAND_CONVEYOR_MOTOR_STOP" }];
    const stop = { id: randomUUID(), expires_in_ms: 10_000, request: { robot_id: robotId, commands } };
    return client.publishAsync(base, JSON.stringify(stop), { qos: 1 });
  };
}

/** The number that the slot shows starts a stop, on any box. */
function bySlot({ session }: PlantSession): Give {
  return async (robotId) => {
    const slot = `Robots.${robotId}.ConveyorSlot`;
    const attributeId = AttributeIds.Value;
    const shown = await session.read({ nodeId: nodeIdOf(`${slot}.NextId`), attributeId });
    const command = Int32Array.from({ length: COMMAND_LENGTH });
    command.set([Number(shown.value.value), CONVEYOR, STOP]);
    const value = new Variant({
      dataType: DataType.Int32,
      arrayType: VariantArrayType.Array,
      value: command,
    });
    const status = await session.write({
      nodeId: nodeIdOf(`${slot}.Command`),
      attributeId,
      value: { value },
    });
    if (status.name !== "Good") throw new Error(`${slot}.Command: ${status.name}`);
  };
}
