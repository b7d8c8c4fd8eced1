import type { StatusCode } from "node-opcua";
import type { Presence } from "../../domain/presence.ts";
import type { Folder, NodeBuilder } from "./node-builder.ts";
import type { TagTimes } from "./node-opcua/tag.ts";

/** A robot's `Position` folder: where the last GetOnlineRobots saw it. */
export interface PositionTags {
  show(presence: Presence, status: StatusCode, times: TagTimes): void;
  fail(status: StatusCode, times: TagTimes): void;
}

/** Adds the folder under a robot. */
export function addPositionTags(builder: NodeBuilder, robot: Folder): PositionTags {
  const folder = builder.folder(robot, "Position");
  const amrId = builder.tag(folder, "AmrId", "Int32");
  const mapId = builder.tag(folder, "MapId", "Int32");
  const pointCode = builder.tag(folder, "PointCode", "String");
  const stateId = builder.tag(folder, "StateId", "String");
  const taskChainId = builder.tag(folder, "TaskChainId", "Int32");

  return {
    show(presence, status, times) {
      amrId.set(presence.amrId, status, times);
      mapId.set(presence.mapId, status, times);
      pointCode.set(presence.position, status, times);
      stateId.set(presence.stateId, status, times);
      taskChainId.set(presence.taskChainId, status, times);
    },
    fail(status, times) {
      for (const tag of [amrId, mapId, pointCode, stateId, taskChainId]) tag.fail(status, times);
    },
  };
}
