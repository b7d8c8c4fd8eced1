import { type StatusCode, StatusCodes } from "node-opcua";
import type { Presence } from "../../domain/presence.ts";
import type { Folder, NodeBuilder } from "./node-builder.ts";
import type { Tag, TagTimes } from "./node-opcua/tag.ts";

/** A robot's `Position` folder: where the last GetOnlineRobots saw it. */
export interface PositionTags {
  readonly ageSeconds: Tag;
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
  const x = builder.tag(folder, "X", "Double");
  const y = builder.tag(folder, "Y", "Double");
  const heading = builder.tag(folder, "Heading", "Double");
  const ageSeconds = builder.tag(folder, "AgeSeconds", "Double");
  const every = [amrId, mapId, pointCode, stateId, taskChainId, x, y, heading];
  const places = [
    [x, "x"],
    [y, "y"],
    [heading, "theta"],
  ] as const;

  return {
    ageSeconds,
    show(presence, status, times) {
      amrId.set(presence.amrId, status, times);
      mapId.set(presence.mapId, status, times);
      pointCode.set(presence.position, status, times);
      stateId.set(presence.stateId, status, times);
      taskChainId.set(presence.taskChainId, status, times);
      for (const [tag, name] of places) {
        const value = coordinateOf(presence, name);
        if (value === null) tag.fail(StatusCodes.BadNoDataAvailable, times);
        else tag.set(value, status, times);
      }
    },
    fail(status, times) {
      for (const tag of every) tag.fail(status, times);
    },
  };
}

/** Null where the record has no coordinate (fleet-service-interface, OnlineAMRInfo). */
function coordinateOf({ info }: Presence, name: "x" | "y" | "theta"): number | null {
  const { coordinate } = info;
  if (typeof coordinate !== "object" || coordinate === null) return null;
  const value: unknown = Reflect.get(coordinate, name);
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}
