import type { StateChange } from "../../domain/change.ts";
import type { MissionQueue } from "../../domain/mission.ts";
import { type Age, createAge, type Quality } from "../../domain/observed.ts";
import type { Battery, Conveyor, Presence, RobotId } from "../../domain/robot.ts";
import { flatBattery, flatConveyor, flatMission, flatPlace } from "../../models/flat-robot.ts";
import type { Clock } from "../../platform/clock.ts";
import type { PublishState } from "./message.ts";
import type { RobotTopics, Topics } from "./topics.ts";

/** Publishes bare values, one for each topic, for clients that cannot read JSON. */
export interface TagWriter {
  write(change: StateChange): void;
  /** Updates the ages of positions. Call it once a second. */
  tick(): void;
}

type Tags = ReadonlyArray<readonly [name: string, value: string | number]>;

/**
 * A tag writer for one connection. Only changes are published. A value that does not exist, or is lost, has
 * no topic; `…/valid` says whether the value beside it is known to be true now.
 *
 * @param ages of robots' positions, over all connections
 */
export function createTagWriter(
  topics: Topics,
  publish: PublishState,
  ages: Map<RobotId, Age>,
  clock: Pick<Clock, "monotonicMs">,
): TagWriter {
  /** Robots whose position is published, and not good. */
  const ageing = new Map<RobotId, Age>();
  const shown = new Map<string, string>();
  const show = (robot: RobotTopics, name: string, text: string) => {
    const topic = robot.tag(name);
    if (shown.get(topic) === text) return;
    shown.set(topic, text);
    publish(topic, text, robot.info);
  };
  const showAll = (robotId: string, group: string, quality: Quality, tags: Tags) => {
    const robot = topics.robot(robotId);
    const gone = quality === "lost" || quality === "unknown";
    // Before the values if it turns bad, after them if it turns good: never true beside an old value.
    if (quality !== "good") show(robot, `${group}/valid`, "false");
    for (const [name, value] of tags) show(robot, `${group}/${name}`, gone ? "" : String(value));
    if (quality === "good") show(robot, `${group}/valid`, "true");
  };

  /** The age of a robot's position, counted as for OPC UA. */
  function ageOf(robotId: RobotId, quality: Quality): number {
    const nowMs = clock.monotonicMs();
    let age = ages.get(robotId);
    if (age === undefined) {
      age = createAge(nowMs);
      ages.set(robotId, age);
    }
    age.note(quality === "good", nowMs);
    if (quality === "stale" || quality === "offline") ageing.set(robotId, age);
    else ageing.delete(robotId);
    return age.seconds(nowMs);
  }

  return {
    tick() {
      const nowMs = clock.monotonicMs();
      for (const [robotId, age] of ageing)
        show(topics.robot(robotId), "presence/age_seconds", String(age.seconds(nowMs)));
    },
    write(change) {
      switch (change.kind) {
        case "robot": {
          const robot = topics.robot(change.robotId);
          show(robot, "valid", change.quality === "good" ? "true" : "false");
          show(robot, "quality", change.quality);
          show(robot, "family", change.family);
          break;
        }
        case "mission":
          showAll(change.robotId, "mission", change.observed.quality, missionTags(change.observed.value));
          break;
        case "battery": {
          const { value, quality } = change.observed;
          showAll(change.robotId, "battery", quality, batteryTags(value));
          break;
        }
        case "conveyor": {
          const { value, quality } = change.observed;
          showAll(change.robotId, `conveyors/${value.index}`, quality, conveyorTags(value));
          break;
        }
        case "presence": {
          const { value, quality } = change.observed;
          showAll(change.robotId, "presence", quality, placeTags(value, ageOf(change.robotId, quality)));
          break;
        }
        case "hold":
          show(topics.robot(change.robotId), "held", String(change.hold.isHeld));
          break;
        case "hold_all":
        case "map":
        case "station":
        case "station_removed":
        case "task_chain":
        case "task_chain_evicted":
          break;
      }
    },
  };
}

function missionTags(queue: MissionQueue): Tags {
  const mission = flatMission(queue);
  return [
    ["current_index", mission.index],
    ["count", mission.count],
    ["mission_id", mission.id ?? ""],
    ["state", mission.state ?? ""],
    ["type", mission.type ?? ""],
    ["feedback", mission.feedback ?? ""],
    ["goal_index", mission.goalIndex ?? ""],
    ["destination", mission.destination ?? ""],
    ["owner", mission.owner ?? ""],
  ];
}

function batteryTags(battery: Battery): Tags {
  const { chargePercent, state, chargeMethod } = flatBattery(battery);
  return [
    ["charge_percent", chargePercent],
    ["state", state],
    ["charge_method", chargeMethod],
  ];
}

function conveyorTags(conveyor: Conveyor): Tags {
  const { operation, payload, health, installation } = flatConveyor(conveyor);
  return [
    ["operation_state", operation],
    ["payload_state", payload],
    ["health_state", health],
    ["installation_state", installation],
  ];
}

/** A coordinate that the list does not have has no topic. */
function placeTags(presence: Presence, ageSeconds: number): Tags {
  const place = flatPlace(presence);
  return [
    ["x", place.x ?? ""],
    ["y", place.y ?? ""],
    ["heading", place.heading ?? ""],
    ["age_seconds", ageSeconds],
    ["amr_id", place.amrId],
    ["map_id", place.mapId],
    ["position", place.pointCode],
    ["state_id", place.stateId],
    ["task_chain_id", place.taskChainId],
  ];
}
