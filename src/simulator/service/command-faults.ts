import { createArmed } from "../faults/armed.ts";

/**
 * What can go wrong between a command and its answer. The three delays answer DEADLINE_EXCEEDED after the
 * service's wait for the robot. The command has then taken effect, never does, or does so after that answer.
 */
export type CommandFaultEffect =
  | "delay-taken"
  | "delay-not-taken"
  | "delay-taken-late"
  | "internal-before"
  | "internal-after";

/** A fault that waits for commands. */
export interface CommandFault {
  /** The name of an operation, as `CreateMission`, or a list of names; undefined: every one. */
  readonly operation?: string | readonly string[] | undefined;
  /** undefined: every robot. */
  readonly robotId?: string | undefined;
  /** How many commands it affects before it is used up. */
  readonly count: number;
  readonly effect: CommandFaultEffect;
}

/** Faults for commands. */
export interface CommandFaults {
  /** The effect of the first matching fault, which is thereby used once. */
  take(operation: string, robotId: string): CommandFaultEffect | undefined;
}

/** Faults that can be switched on and off. */
export interface FaultSwitch extends CommandFaults {
  add(fault: CommandFault): void;
  /** The active faults, with the counts that are left. */
  list(): readonly CommandFault[];
  clear(): void;
  /** Switches off the matching ones. */
  remove(fits: (fault: CommandFault) => boolean): void;
}

/** Faults held in memory, taken in the order they were added. */
export function createFaultSwitch(): FaultSwitch {
  const armed = createArmed<CommandFault>();
  return {
    add: armed.add,
    list: armed.list,
    clear: armed.clear,
    remove: armed.remove,
    take: (operation, robotId) =>
      armed.take((fault) => concerns(fault.operation, operation) && (fault.robotId ?? robotId) === robotId)
        ?.effect,
  };
}

function concerns(named: CommandFault["operation"], operation: string): boolean {
  return named === undefined || (typeof named === "string" ? named === operation : named.includes(operation));
}
