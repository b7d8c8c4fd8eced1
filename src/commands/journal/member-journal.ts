import type { RunningTime } from "../../platform/running-time.ts";
import { StoreFailed } from "../../platform/store.ts";
import type { OwnTableStore, TableStore } from "../../platform/stores/table-store.ts";
import { openDurableJournal } from "./durable-journal.ts";
import type { Journal, JournalLimits } from "./journal.ts";
import { followJournal } from "./journal-follower.ts";
import { recordCodec, storedClaims, unpackRecord } from "./stored-record.ts";

/** The journal of a member of a cluster. */
export interface MemberJournal extends Journal {
  /** A record of a table has changed. */
  changed(table: string, key: string): void;
  /** This member leads from now on: `tables` are its own, with all that `changed` was told of. */
  lead(tables: OwnTableStore, limits: JournalLimits, time: RunningTime): Promise<void>;
}

/**
 * A member that stands by reads what the leader has recorded, and keeps holds. It records no command.
 *
 * @param tables as a standby knows them
 */
export function createMemberJournal(tables: TableStore): MemberJournal {
  let now = standbyJournal(tables);
  // What a takeover must know of all records is ready before it.
  const follower = followJournal(tables);
  return {
    changed: follower.changed,
    async lead(own, limits, time) {
      now = openDurableJournal(own, limits, time, null, await follower.caughtUp());
    },
    find: (id) => now.find(id),
    isOnDisk: (id) => now.isOnDisk(id),
    unfinished: () => now.unfinished(),
    made: () => now.made(),
    ended: () => now.ended(),
    write: (record) => now.write(record),
    permits: (id) => now.permits(id),
    leases: () => now.leases(),
    writeLease: (robotId, lease) => now.writeLease(robotId, lease),
    runs: () => now.runs(),
    writeRuns: (robotId, runs) => now.writeRuns(robotId, runs),
    holds: () => now.holds(),
    writeHold: (hold, isHeld) => now.writeHold(hold, isHeld),
    prune: () => now.prune(),
    writeProbe: () => now.writeProbe(),
    writeMissed: () => now.writeMissed(),
    isDamaged: () => now.isDamaged(),
    figures: () => now.figures(),
    close: () => now.close(),
  };
}

function standbyJournal(tables: TableStore): Journal {
  const commands = tables.table("commands", recordCodec, "confirm");
  const { writeHold } = storedClaims(tables);
  const nothing = () => Promise.resolve();
  return {
    find(id) {
      const stored = commands.get(id);
      return stored && unpackRecord(id, stored);
    },
    isOnDisk: () => true,
    unfinished: () => [],
    made: () => [],
    ended: () => [],
    write: () => Promise.reject(new StoreFailed("this member of the cluster stands by")),
    permits: () => false,
    leases: () => [],
    writeLease: nothing,
    runs: () => new Map(),
    writeRuns: nothing,
    holds: () => [],
    writeHold,
    prune: () => Promise.resolve(false),
    writeProbe: nothing,
    writeMissed: () => Promise.resolve(false),
    isDamaged: () => false,
    figures: () => ({}),
    close: nothing,
  };
}
