import type { FleetEvent } from "../../src/domain/event.ts";
import { FleetService } from "../../src/wire/fleet/v1/service_pb.js";
import type { RunningSimulator } from "../support/simulator.ts";

/** What a robot is at, in a form that both sides can be brought to. */
interface RobotTruth {
  missions: readonly string[];
  currentMissionIndex: number;
  battery: string;
}

type Truth = Record<string, RobotTruth>;

const { method } = FleetService;

/** The service's own state of every robot of its first location, read by a client that is not ours. */
export async function truthOf(simulator: RunningSimulator): Promise<Truth> {
  const client = await simulator.client({ token: await simulator.token() });
  const selector = {
    targetId: { case: "locationId" as const, value: simulator.endpoints.locations[0] ?? "" },
  };
  const robotIds = await onlineRobots(simulator);
  const truth: Truth = {};
  const missions = client.stream(method.subscribeMissionStatus, { selector });
  const batteries = client.stream(method.subscribeBatteryStatus, { selector });
  for (const robotId of robotIds) truth[robotId] = { missions: [], currentMissionIndex: -1, battery: "" };
  for (let left = robotIds.length; left > 0; left -= 1) {
    const { robotId, missionStates } = await missions.next();
    const robot = truth[robotId];
    if (robot === undefined) continue;
    robot.missions = missionStates?.missions.map(({ missionId, state }) => `${missionId} ${state}`) ?? [];
    robot.currentMissionIndex = missionStates?.currentMissionIndex ?? -1;
  }
  for (let left = robotIds.length; left > 0; left -= 1) {
    const { robotId, batteryState } = await batteries.next();
    const robot = truth[robotId];
    if (robot !== undefined) robot.battery = `${batteryState?.chargePercent} ${batteryState?.state}`;
  }
  missions.cancel();
  batteries.cancel();
  client.close();
  return truth;
}

async function onlineRobots(simulator: RunningSimulator): Promise<readonly string[]> {
  const answer = await simulator.rest("GET", "/amr/onlineAmr", undefined, await simulator.token());
  const { robots } = JSON.parse(answer.text) as { robots: ReadonlyArray<{ name: string }> };
  return robots.map(({ name }) => name).sort();
}

const missionStates = [
  "STATE_UNKNOWN",
  "STATE_DEFAULT",
  "STATE_RUNNING",
  "STATE_PAUSED",
  "STATE_CANCELED",
  "STATE_SUCCEEDED",
  "STATE_FAILED",
];
const batteryStates = ["STATE_UNKNOWN", "STATE_CHARGING", "STATE_DISCHARGING", "STATE_FULL"];

/** What somebody who heard all these events holds of the robots that `truth` is about. */
export function heldBy(events: readonly FleetEvent[], truth: unknown): Truth {
  const held: Truth = {};
  for (const robotId of Object.keys(truth as Truth)) {
    held[robotId] = { missions: [], currentMissionIndex: Number.NaN, battery: "" };
  }
  for (const event of events) {
    if (event.kind === "mission") {
      const robot = held[event.robotId];
      if (robot === undefined) continue;
      robot.missions = event.queue.missions.map(
        ({ missionId, state }) => `${missionId} ${missionStates.indexOf(String(state))}`,
      );
      robot.currentMissionIndex = event.queue.currentMissionIndex;
    } else if (event.kind === "battery") {
      const robot = held[event.robotId];
      if (robot === undefined) continue;
      robot.battery = `${event.battery.chargePercent} ${batteryStates.indexOf(String(event.battery.state))}`;
    }
  }
  return held;
}
