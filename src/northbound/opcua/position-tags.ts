import { type StatusCode, StatusCodes } from "node-opcua";
import { coordinateOf, type Presence } from "../../domain/presence.ts";
import { ageTags, coordinateTags, listTags } from "./model/place.ts";
import type { Folder, NodeBuilder } from "./node-builder.ts";
import type { Tag, TagTimes } from "./node-opcua/tag.ts";

/** A robot's `Position` folder: its place in the last GetOnlineRobots. */
export interface PositionTags {
  readonly ageSeconds: Tag;
  show(presence: Presence, status: StatusCode, times: TagTimes): void;
  fail(status: StatusCode, times: TagTimes): void;
}

/** Adds the folder under a robot. */
export function addPositionTags(builder: NodeBuilder, robot: Folder): PositionTags {
  const folder = builder.folder(robot, "Position");
  const tags = builder.tags(folder, listTags);
  const { X: x, Y: y, Heading: heading } = builder.tags(folder, coordinateTags);
  const { AgeSeconds: ageSeconds } = builder.tags(folder, ageTags);
  const places = [
    [x, "x"],
    [y, "y"],
    [heading, "theta"],
  ] as const;

  return {
    ageSeconds,
    show(presence, status, times) {
      tags.AmrId.set(presence.amrId, status, times);
      tags.MapId.set(presence.mapId, status, times);
      tags.PointCode.set(presence.position, status, times);
      tags.StateId.set(presence.stateId, status, times);
      tags.TaskChainId.set(presence.taskChainId, status, times);
      for (const [tag, name] of places) {
        const value = coordinateOf(presence, name);
        if (value === null) tag.fail(StatusCodes.BadNoDataAvailable, times);
        else tag.set(value, status, times);
      }
    },
    fail(status, times) {
      for (const tag of [...Object.values(tags), x, y, heading]) tag.fail(status, times);
    },
  };
}
