import type { RobotId } from "../../domain/robot.ts";
import type { TableChange } from "../../platform/stores/table-store.ts";
import type { Mirror } from "./mirror.ts";
import { decode, tableKey } from "./records.ts";

/** What a record of the journal says of a start. */
export interface RecordedStart {
  /** Null: the service picks one. */
  readonly robotId: RobotId | null;
  /** `ended`: it had been sent. */
  readonly stage: "accepted" | "sent" | "ended";
}

/** Reads a change of the journal; null: it is not about a start, or about one that was never sent. */
export type ReadStart = (change: TableChange) => RecordedStart | null;

/** The starts that all members have sent, as far as the mirror knows. */
export interface StartIndex {
  /** A start of the robot is under way, or has ended after this revision. */
  mayHaveLeft(robotId: RobotId, since: number): boolean;
}

export const COMMANDS = "commands";

export function createStartIndex(mirror: Mirror, readStart: ReadStart): StartIndex {
  const underWay = new Map<string, RobotId | null>();
  /** The revision of the last end, by robot; null: of starts whose robot the service picks. */
  const endedAt = new Map<RobotId | null, number>();
  const prefix = tableKey(COMMANDS, "");

  mirror.subscribe((key, entry) => {
    if (!key.startsWith(prefix)) return;
    const id = key.slice(prefix.length);
    underWay.delete(id);
    if (entry === null) return;
    const start = readStart({ table: COMMANDS, key: id, value: decode(entry) });
    if (start?.stage === "sent") underWay.set(id, start.robotId);
    if (start?.stage === "ended") endedAt.set(start.robotId, entry.modified);
  });

  return {
    mayHaveLeft(robotId, since) {
      const isOf = (other: RobotId | null) => other === null || other === robotId;
      if ([...underWay.values()].some(isOf)) return true;
      return (endedAt.get(robotId) ?? 0) > since || (endedAt.get(null) ?? 0) > since;
    },
  };
}
