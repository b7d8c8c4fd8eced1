import type { RobotId } from "../../domain/robot.ts";
import type { Placement } from "./topic-templates.ts";

/**
 * An id as one topic level: characters that a level cannot carry (and dots, which NodeIds use) are
 * percent-encoded. Never throws: half a surrogate pair becomes U+FFFD.
 */
export function encodeLevel(id: string): string {
  if (plainLevel.test(id)) return id;
  return id
    .replace(halfSurrogate, "\ufffd")
    .replace(needsEncoding, (character) =>
      [...Buffer.from(character, "utf8")]
        .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`)
        .join(""),
    );
}

/** The id in a topic level; undefined: it is not encoded as by `encodeLevel`. */
function decodeLevel(level: string): string | undefined {
  try {
    return decodeURIComponent(level);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

const plainLevel = /^[A-Za-z0-9_-]+$/;
const halfSurrogate = /\p{Surrogate}/gu;
const needsEncoding = /[\p{Cc}\p{Noncharacter_Code_Point}/#+%.]/gu;

/** The names of robots in topics. */
export interface RobotLevels {
  of(robotId: RobotId): string;
  /** The robot of a level; undefined: it is not encoded as by `encodeLevel`. */
  read(level: string): RobotId | undefined;
}

/** Marks an id that is the alias of another robot, as in the names of nodes (OPC UA, robot names). */
const NOT_THE_ALIAS = "~id";

/** By id; or by alias and otherwise by id, if the placement has `{alias}`. */
export function createRobotLevels({ robot, robots }: Placement): RobotLevels {
  if (robot === null || !robot.includes("{alias}")) return { of: encodeLevel, read: decodeLevel };
  const byId = new Map<RobotId, string>();
  const byAlias = new Map<string, RobotId>();
  for (const { robotId, alias } of robots) {
    if (alias === null) continue;
    byId.set(robotId, alias);
    byAlias.set(alias, robotId);
  }
  return {
    of(robotId) {
      const alias = byId.get(robotId);
      if (alias !== undefined) return alias;
      const level = encodeLevel(robotId).replaceAll("~", "%7E");
      return byAlias.has(level) ? level + NOT_THE_ALIAS : level;
    },
    read(level) {
      const named = byAlias.get(level);
      if (named !== undefined) return named;
      return decodeLevel(level.endsWith(NOT_THE_ALIAS) ? level.slice(0, -NOT_THE_ALIAS.length) : level);
    },
  };
}
