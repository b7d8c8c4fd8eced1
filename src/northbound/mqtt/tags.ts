import type { StateChange } from "../../domain/change.ts";
import { codeText } from "../../domain/coded.ts";
import { currentGoal, currentMission, type MissionQueue } from "../../domain/mission.ts";
import { type Age, createAge } from "../../domain/observed.ts";
import type { Quality } from "../../domain/quality.ts";
import { coordinateOf, type Presence, type RobotId } from "../../domain/robot.ts";
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
          showAll(change.robotId, "battery", quality, [
            ["charge_percent", value.chargePercent],
            ["state", codeText(value.state)],
            ["charge_method", codeText(value.chargeMethod)],
          ]);
          break;
        }
        case "conveyor": {
          const { value, quality } = change.observed;
          showAll(change.robotId, `conveyors/${value.index}`, quality, [
            ["operation_state", codeText(value.operation)],
            ["payload_state", codeText(value.payload)],
            ["health_state", codeText(value.health)],
            ["installation_state", codeText(value.installation)],
          ]);
          break;
        }
        case "presence": {
          const { value, quality } = change.observed;
          const age = ageOf(change.robotId, quality);
          showAll(change.robotId, "presence", quality, [
            ...placeTags(value),
            ["age_seconds", age],
            ["amr_id", value.amrId],
            ["map_id", value.mapId],
            ["position", value.position],
            ["state_id", value.stateId],
            ["task_chain_id", value.taskChainId],
          ]);
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

/** The robot's position on its map; a coordinate that the list does not have has no topic. */
function placeTags(presence: Presence): Tags {
  return [
    ["x", coordinateOf(presence, "x") ?? ""],
    ["y", coordinateOf(presence, "y") ?? ""],
    ["heading", coordinateOf(presence, "theta") ?? ""],
  ];
}

function missionTags(queue: MissionQueue): Tags {
  const mission = currentMission(queue);
  const goal = mission === undefined ? undefined : currentGoal(mission);
  const feedback = mission?.feedback;
  const type = mission?.type;
  return [
    ["current_index", queue.currentMissionIndex],
    ["count", queue.missions.length],
    ["mission_id", mission?.missionId ?? ""],
    ["state", mission === undefined ? "" : codeText(mission.state)],
    ["type", type && type.family !== "none" ? codeText(type.type) : ""],
    ["feedback", feedback && feedback.family !== "none" ? codeText(feedback.status) : ""],
    ["goal_index", mission?.currentGoalIndex ?? ""],
    ["destination", goal?.kind === "destination" ? goal.destinationId : ""],
    ["owner", mission?.owner ?? ""],
  ];
}
