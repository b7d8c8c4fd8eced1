import type { RobotId } from "../../domain/robot.ts";

/** Writes a value of a robot, such as its lease, so that it outlives the gateway. Never throws. */
export interface LatestWrites<V> {
  /** The robot's value is now this one; null: it has none. */
  remember(robotId: RobotId, value: V | null): void;
  /**
   * Resolves when the newest value of the robot is on the disk, or (false) was refused by it. At once if no
   * write is under way.
   */
  stored(robotId: RobotId): Promise<boolean>;
  /** Resolves when all of it is written, or could not be: before the journal is closed. */
  settled(): Promise<void>;
}

/**
 * One write at a time for a robot, then the newest value. So values that change quickly do not pile up on a
 * disk that hangs.
 */
export function createLatestWrites<V>(
  writeOne: (robotId: RobotId, value: V | null) => Promise<void>,
  onFailure: (robotId: RobotId, error: unknown) => void,
): LatestWrites<V> {
  /** Robots whose value is being written, with its newer value; undefined: there is none. */
  const writing = new Map<RobotId, V | null | undefined>();
  const whenSettled: Array<() => void> = [];
  const whenStored = new Map<RobotId, Array<(isStored: boolean) => void>>();

  async function write(robotId: RobotId, first: V | null): Promise<void> {
    let value: V | null | undefined = first;
    let isStored = false;
    while (value !== undefined) {
      writing.set(robotId, undefined);
      try {
        await writeOne(robotId, value);
        isStored = true;
      } catch (error) {
        isStored = false;
        onFailure(robotId, error);
      }
      value = writing.get(robotId);
    }
    writing.delete(robotId);
    for (const resolve of whenStored.get(robotId) ?? []) resolve(isStored);
    whenStored.delete(robotId);
    if (writing.size > 0) return;
    for (const resolve of whenSettled.splice(0)) resolve();
  }

  return {
    remember(robotId, value) {
      if (writing.has(robotId)) writing.set(robotId, value);
      else void write(robotId, value);
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
