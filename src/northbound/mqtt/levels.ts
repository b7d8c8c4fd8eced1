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

const plainLevel = /^[A-Za-z0-9_-]+$/;
const halfSurrogate = /\p{Surrogate}/gu;
const needsEncoding = /[\p{Cc}\p{Noncharacter_Code_Point}/#+%.]/gu;

/** Marks an id that is the alias of another robot, as in the names of nodes (OPC UA, robot names). */
const NOT_THE_ALIAS = "~id";

/** The names of robots in topics: ids; or aliases and otherwise ids, if the placement has `{alias}`. */
export function createRobotLevels({ robot, robots }: Placement): (robotId: RobotId) => string {
  if (robot === null || !robot.includes("{alias}")) return encodeLevel;
  const byId = new Map<RobotId, string>();
  for (const { robotId, alias } of robots) if (alias !== null) byId.set(robotId, alias);
  const aliases = new Set(byId.values());
  return (robotId) => {
    const alias = byId.get(robotId);
    if (alias !== undefined) return alias;
    const level = encodeLevel(robotId).replaceAll("~", "%7E");
    return aliases.has(level) ? level + NOT_THE_ALIAS : level;
  };
}
