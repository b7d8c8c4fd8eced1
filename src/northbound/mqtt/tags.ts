import type { StateChange } from "../../domain/change.ts";
import { codeText } from "../../domain/coded.ts";
import { currentGoal, currentMission, type MissionQueue } from "../../domain/mission.ts";
import type { Quality } from "../../domain/quality.ts";
import type { Topics } from "./topics.ts";

/** Publishes bare values, one a topic, for clients that cannot read JSON. */
export interface TagWriter {
  write(change: StateChange): void;
}

type Tags = ReadonlyArray<readonly [name: string, value: string | number]>;

/**
 * A tag writer for one connection. Only what changed is published. A value that
 * does not exist, or is lost, has no topic; `…/valid` says whether the value
 * beside it is known to be true now.
 */
export function createTagWriter(
  topics: Topics,
  publish: (topic: string, payload: string) => void,
): TagWriter {
  const shown = new Map<string, string>();
  const show = (topic: string, text: string) => {
    if (shown.get(topic) === text) return;
    shown.set(topic, text);
    publish(topic, text);
  };
  const showAll = (robotId: string, group: string, quality: Quality, tags: Tags) => {
    const robot = topics.robot(robotId);
    const gone = quality === "lost" || quality === "unknown";
    // Before the values when it turns bad, after them when it turns good: never true beside an old value.
    if (quality !== "good") show(robot.tag(`${group}/valid`), "false");
    for (const [name, value] of tags) show(robot.tag(`${group}/${name}`), gone ? "" : String(value));
    if (quality === "good") show(robot.tag(`${group}/valid`), "true");
  };

  return {
    write(change) {
      switch (change.kind) {
        case "robot": {
          const robot = topics.robot(change.robotId);
          show(robot.tag("valid"), change.quality === "good" ? "true" : "false");
          show(robot.tag("quality"), change.quality);
          show(robot.tag("family"), change.family);
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
          showAll(change.robotId, "presence", quality, [
            ["amr_id", value.amrId],
            ["map_id", value.mapId],
            ["position", value.position],
            ["state_id", value.stateId],
            ["task_chain_id", value.taskChainId],
          ]);
          break;
        }
        case "hold":
          show(topics.robot(change.robotId).tag("held"), String(change.hold.isHeld));
          break;
        case "hold_all":
        case "station":
        case "task_chain":
        case "task_chain_evicted":
          break;
      }
    },
  };
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
