import type { RobotId } from "../../domain/robot.ts";
import type { Log } from "../../platform/log.ts";
import type { Journal, StoredLease } from "../journal/journal.ts";

/** Keeps leases over a restart. Never throws. */
export interface LeaseMemory {
  /** What a robot's lease is now; null: there is none any more. */
  remember(robotId: RobotId, lease: StoredLease | null): void;
  /**
   * Resolves when the newest state of the robot's lease is on the disk, or (false) was refused by it. At once
   * where nothing is being written.
   */
  stored(robotId: RobotId): Promise<boolean>;
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
  const whenStored = new Map<RobotId, Array<(isStored: boolean) => void>>();

  async function write(robotId: RobotId, first: StoredLease | null): Promise<void> {
    let lease: StoredLease | null | undefined = first;
    let isStored = false;
    while (lease !== undefined) {
      writing.set(robotId, undefined);
      try {
        await journal.writeLease(robotId, lease);
        isStored = true;
      } catch (error) {
        isStored = false;
        log.error({ err: error, robotId }, "a lease could not be recorded: a restart will not know of it");
      }
      lease = writing.get(robotId);
    }
    writing.delete(robotId);
    for (const resolve of whenStored.get(robotId) ?? []) resolve(isStored);
    whenStored.delete(robotId);
    if (writing.size > 0) return;
    for (const resolve of whenSettled.splice(0)) resolve();
  }

  return {
    remember(robotId, lease) {
      if (writing.has(robotId)) writing.set(robotId, lease);
      else void write(robotId, lease);
    },
    stored(robotId) {
      if (!writing.has(robotId)) return Promise.resolve(true);
      return new Promise((resolve) => {
        whenStored.set(robotId, [...(whenStored.get(robotId) ?? []), resolve]);
      });
    },
    settled() {
      if (writing.size === 0) return Promise.resolve();
      return new Promise((resolve) => whenSettled.push(resolve));
    },
  };
}
