import type { StatusCode } from "node-opcua";
import { amrExceptionOf } from "../../domain/amr-exception.ts";
import type { Presence } from "../../domain/presence.ts";
import { exceptionTags, LISTED_EXCEPTIONS } from "./model/place.ts";
import type { Folder, NodeBuilder } from "./node-builder.ts";
import { fittingText, type TagTimes } from "./node-opcua/tag.ts";

/** A robot's `AmrException` folder, as the field of the online list is called. */
export interface ExceptionTags {
  show(presence: Presence, status: StatusCode, times: TagTimes): void;
  fail(status: StatusCode, times: TagTimes): void;
}

/** Adds the folder under a robot. */
export function addExceptionTags(builder: NodeBuilder, robot: Folder): ExceptionTags {
  const folder = builder.folder(robot, "AmrException");
  const tags = builder.tags(folder, exceptionTags);

  return {
    show(presence, status, times) {
      const found = amrExceptionOf(presence);
      tags.Exception.setList(filled(found.exception), status, times);
      tags.ExceptionCodes.setList(filled(found.exceptionCodes), status, times);
      tags.Level.set(found.level, status, times);
    },
    fail(status, times) {
      for (const tag of Object.values(tags)) tag.fail(status, times);
    },
  };
}

function filled(texts: readonly string[]): readonly string[] {
  return Array.from({ length: LISTED_EXCEPTIONS }, (_unused, place) => fittingText(texts[place] ?? ""));
}
