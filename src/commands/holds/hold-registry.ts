import type { Source } from "../../domain/command.ts";
import { holderName } from "../../domain/hold.ts";
import { type Outcome, refusal } from "../../domain/outcome.ts";
import type { RobotId } from "../../domain/robot.ts";
import type { StoredHold } from "../journal/journal.ts";

/** The registry of present holds, by robot (null: of all robots) and by user, the longest first. */
export interface HoldRegistry {
  add(hold: StoredHold): void;
  remove(hold: StoredHold): void;
  /** The hold of the user with this name (`holderName`). */
  find(robotId: RobotId | null, name: string): StoredHold | undefined;
  names(robotId: RobotId | null): readonly string[];
  owners(robotId: RobotId | null): readonly Source[];
  all(): readonly StoredHold[];
  isHeld(robotId: RobotId): boolean;
  /**
   * The refusal of a start of this robot, or (null) of a start whose robot the service chooses; null: there
   * is no hold.
   */
  refusalFor(robotId: RobotId | null): Outcome | null;
  readonly size: number;
  figures(): Readonly<Record<string, number>>;
}

export function createHoldRegistry(): HoldRegistry {
  const held = new Map<RobotId | null, Map<string, StoredHold>>();
  let size = 0;

  function owners(robotId: RobotId | null): readonly Source[] {
    return Array.from(held.get(robotId)?.values() ?? [], ({ owner }) => owner);
  }

  return {
    add(hold) {
      const holders = held.get(hold.robotId) ?? new Map();
      held.set(hold.robotId, holders.set(holderName(hold.owner), hold));
      size += 1;
    },
    remove({ robotId, owner }) {
      const holders = held.get(robotId);
      if (holders?.delete(holderName(owner))) size -= 1;
      if (holders?.size === 0) held.delete(robotId);
    },
    find: (robotId, name) => held.get(robotId)?.get(name),
    names: (robotId) => [...(held.get(robotId)?.keys() ?? [])],
    owners,
    all: () => [...held.values()].flatMap((holders) => [...holders.values()]),
    isHeld: (robotId) => held.has(robotId) || held.has(null),
    refusalFor(robotId) {
      const one = robotId ?? [...held.keys()].find((each) => each !== null) ?? null;
      const [owner] = [...owners(null), ...(one === null ? [] : owners(one))];
      if (owner === undefined) return null;
      const by = holderName(owner);
      if (held.has(null)) return refusal("HELD", `${by} holds all robots`);
      const message = `${by} holds robot ${one}`;
      const named = robotId === null ? `the service picks the robot, and ${message}: name one` : message;
      return refusal("HELD", named);
    },
    get size() {
      return size;
    },
    figures: () => ({
      holds: size,
      robotsHeld: [...held.keys()].filter((robotId) => robotId !== null).length,
      allRobotsHeld: held.has(null) ? 1 : 0,
    }),
  };
}
