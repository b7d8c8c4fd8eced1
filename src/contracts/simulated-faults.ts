import type { Source } from "../domain/command.ts";
import type { RobotId } from "../domain/robot.ts";

/** What a user can make go wrong with a simulated fleet service. */
export type SimulatedFault =
  /** Connections are closed, or stay open and say nothing. */
  | { readonly name: "cut" | "silence"; readonly robotId: null }
  /** Something stands before the robot, its next answer is lost, or it has no charge left. */
  | { readonly name: "block" | "lost_answer" | "flat_battery"; readonly robotId: RobotId };

export interface ActiveFault {
  readonly fault: SimulatedFault;
  /** How long it has lasted; null: it did not begin here, so nobody knows. */
  readonly forMs: number | null;
}

/** The faults of the simulated fleet service that runs beside the gateway: `cli/demo` alone has one. */
export interface SimulatedFaults {
  /** What goes wrong now, however it began. */
  active(): readonly ActiveFault[];
  /** Begins a fault; one that lasts already goes on. Null, or why that cannot be, as a sentence. */
  begin(fault: SimulatedFault): string | null;
  /** Ends a fault, if it lasts. Null, or why that cannot be, as a sentence. */
  end(fault: SimulatedFault): string | null;
}

/** The begin, or the end, of a fault that a user asked for. */
export interface FaultChange {
  readonly source: Source;
  readonly address: string;
  readonly fault: SimulatedFault;
  readonly change: "begin_fault" | "end_fault";
}

/** Where a protocol tells of faults. */
export interface FaultAudit {
  /** Puts it into the audit log. Never throws. */
  fault(change: FaultChange): void;
}
