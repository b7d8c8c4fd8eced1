import type { StatusCode } from "node-opcua";
import { amrExceptionOf } from "../../domain/amr-exception.ts";
import type { Presence } from "../../domain/presence.ts";
import type { Folder, NodeBuilder } from "./node-builder.ts";
import { fittingText, type TagTimes } from "./node-opcua/tag.ts";

/** How many exceptions are shown: the first. */
const LISTED = 8;

/** A robot's `AmrException` folder, as the field of the online list is called. */
export interface ExceptionTags {
  show(presence: Presence, status: StatusCode, times: TagTimes): void;
  fail(status: StatusCode, times: TagTimes): void;
}

/** Adds the folder under a robot. */
export function addExceptionTags(builder: NodeBuilder, robot: Folder): ExceptionTags {
  const folder = builder.folder(robot, "AmrException");
  const exception = builder.list(folder, "Exception", "String", LISTED);
  const exceptionCodes = builder.list(folder, "ExceptionCodes", "String", LISTED);
  const level = builder.tag(folder, "Level", "Int32");

  return {
    show(presence, status, times) {
      const found = amrExceptionOf(presence);
      exception.setList(filled(found.exception), status, times);
      exceptionCodes.setList(filled(found.exceptionCodes), status, times);
      level.set(found.level, status, times);
    },
    fail(status, times) {
      for (const tag of [exception, exceptionCodes, level]) tag.fail(status, times);
    },
  };
}

function filled(texts: readonly string[]): readonly string[] {
  return Array.from({ length: LISTED }, (_unused, place) => fittingText(texts[place] ?? ""));
}
