import type { Source } from "../domain/command.ts";
import type { RobotId } from "../domain/robot.ts";

/** A fault of a simulated fleet service that a user can switch on. */
export type SimulatedFault =
  /** Connections are closed, or stay open and silent. */
  | { readonly name: "cut" | "silence"; readonly robotId: null }
  /** An obstacle is before the robot, its next answer is lost, or its battery is empty. */
  | { readonly name: "block" | "lost_answer" | "flat_battery"; readonly robotId: RobotId };

export interface ActiveFault {
  readonly fault: SimulatedFault;
  /** How long it has lasted; null: not known, because it did not begin here. */
  readonly forMs: number | null;
}

/** The faults of the simulated fleet service beside the gateway: only `cli/demo` has one. */
export interface SimulatedFaults {
  /** The present faults, however they began. */
  active(): readonly ActiveFault[];
  /** Begins a fault; a present one continues. Null, or why it cannot begin, as a sentence. */
  begin(fault: SimulatedFault): string | null;
  /** Ends a fault, if it is present. Null, or why it cannot end, as a sentence. */
  end(fault: SimulatedFault): string | null;
}

/** The begin, or the end, of a fault that a user asked for. */
export interface FaultChange {
  readonly source: Source;
  readonly address: string;
  readonly fault: SimulatedFault;
  readonly change: "begin_fault" | "end_fault";
}

/** Receives the faults of a protocol's users. */
export interface FaultAudit {
  /** Puts it into the audit log. Never throws. */
  fault(change: FaultChange): void;
}
