import { setTimeout as wait } from "node:timers/promises";
import { fromJson } from "@bufbuild/protobuf";
import { MissionSchema } from "../../../src/wire/fleet/v1/mission_pb.js";
import type { TestRobot } from "../../contract/contract-harness.ts";
import type { RunningSimulator } from "../../support/simulator.ts";
import type { MqttClient } from "./mqtt-client.ts";

/** The station of a line, in the configuration of both boxes. */
export function stationsOf({ stations: [place] }: TestRobot) {
  return {
    line: { destinations: [place], clients: [CLIENT], heartbeatMs: HEARTBEAT_MS, maxRunMs: 3_600_000 },
  };
}

/** A line that leases a cart by MQTT, with heartbeats, while the cart's conveyor turns. */
export interface ConveyorLine {
  /** Resolves when the conveyor turns, with the lease. */
  roll(): Promise<void>;
  /** The line itself stops it. */
  stop(): Promise<void>;
  isTurning(): boolean;
  close(): void;
}

const CLIENT = "line";
const STATION = "line";
/** A busy machine lets a client wait. */
const HEARTBEAT_MS = 5_000;
const BEAT_MS = 500;
const REPLY_MS = 2_000;
const ROLL_MS = 60_000;
const AGAIN_MS = 200;
const EXPIRES_IN_MS = 5_000;

export function openConveyorLine(
  { control }: Pick<RunningSimulator, "control">,
  mqtt: MqttClient,
  { id: robotId, stations: [destinationId] }: TestRobot,
): ConveyorLine {
  let count = 0;
  const mission = fromJson(MissionSchema, { baseMission: { navigateMission: { goal: { destinationId } } } });
  control.startMission(robotId, "touchscreen", mission);

  async function isDone(operation: string, content: object): Promise<boolean> {
    count += 1;
    const reply = await mqtt.ask(CLIENT, operation, { id: `line-${count}`, ...content }, REPLY_MS);
    return reply?.outcome === "succeeded";
  }
  const turn = (motor: "CW" | "STOP") => {
    const commands = [{ index: 1, command: `COMMAND_CONVEYOR_MOTOR_${motor}` }];
    return isDone("ControlConveyor", { expires_in_ms: EXPIRES_IN_MS, request: { robotId, commands } });
  };
  function isTurning(): boolean {
    const robot = control.robots().find((each) => each.robotId === robotId);
    return robot?.conveyors.find(({ index }) => index === 1)?.motor === "cw";
  }
  const beating = setInterval(() => {
    count += 1;
    const beat = { id: `line-${count}`, station: STATION, counter: count };
    void mqtt.ask(CLIENT, "Heartbeat", beat, REPLY_MS);
  }, BEAT_MS);

  return {
    isTurning,
    async roll() {
      const untilMs = performance.now() + ROLL_MS;
      for (;;) {
        const isLeased = await isDone("LeaseRobot", { station: STATION, robot_id: robotId });
        if (isLeased && (isTurning() || (await turn("CW")))) return;
        if (performance.now() > untilMs) throw new Error("the conveyor does not turn");
        await wait(AGAIN_MS);
      }
    },
    async stop() {
      while (!(await turn("STOP"))) await wait(AGAIN_MS);
    },
    close: () => clearInterval(beating),
  };
}
