import type { RobotId } from "../../domain/robot.ts";
import type { Log } from "../../platform/log.ts";
import type { Journal, StoredLease } from "../journal/journal.ts";

/** Keeps leases over a restart. Never throws. */
export interface LeaseMemory {
  /** What a robot's lease is now; null: there is none any more. */
  remember(robotId: RobotId, lease: StoredLease | null): void;
  /** Resolves when all of it is written, or could not be: before the journal is closed. */
  settled(): Promise<void>;
}

/**
 * One write at a time for a robot, then the newest state. So leases that change quickly do not pile up on a
 * disk that hangs.
 */
export function createLeaseMemory(journal: Pick<Journal, "writeLease">, log: Log): LeaseMemory {
  /** Robots whose lease is being written, with what it has become meanwhile; undefined: nothing else. */
  const writing = new Map<RobotId, StoredLease | null | undefined>();
  const whenSettled: Array<() => void> = [];

  async function write(robotId: RobotId, first: StoredLease | null): Promise<void> {
    let lease: StoredLease | null | undefined = first;
    while (lease !== undefined) {
      writing.set(robotId, undefined);
      try {
        await journal.writeLease(robotId, lease);
      } catch (error) {
        log.error({ err: error, robotId }, "a lease could not be recorded: a restart will not know of it");
      }
      lease = writing.get(robotId);
    }
    writing.delete(robotId);
    if (writing.size > 0) return;
    for (const resolve of whenSettled.splice(0)) resolve();
  }

  return {
    remember(robotId, lease) {
      if (writing.has(robotId)) writing.set(robotId, lease);
      else void write(robotId, lease);
    },
    settled() {
      if (writing.size === 0) return Promise.resolve();
      return new Promise((resolve) => whenSettled.push(resolve));
    },
  };
}
