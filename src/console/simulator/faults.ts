import type { FaultName, SimulatedFaultState } from "../../northbound/web/api/simulator.ts";

/** A fault in the view. Its words are those of its name. */
export interface OfferedFault {
  readonly name: FaultName;
  readonly isOfRobot: boolean;
}

export const offeredFaults: readonly OfferedFault[] = [
  { name: "cut", isOfRobot: false },
  { name: "silence", isOfRobot: false },
  { name: "block", isOfRobot: true },
  { name: "lost_answer", isOfRobot: true },
  { name: "flat_battery", isOfRobot: true },
];

/** A row of the view: a fault, of the service or of a robot, and whether it is present. */
export interface FaultRow {
  readonly key: string;
  readonly fault: OfferedFault;
  /** Null: it concerns the whole service. */
  readonly robotId: string | null;
  /** Null: it is not present. */
  readonly active: SimulatedFaultState | null;
}

/** The faults of the service, those of the chosen robot, and present ones of other robots. */
export function faultRows(
  active: readonly SimulatedFaultState[],
  chosenId: string | null,
): readonly FaultRow[] {
  const row = (fault: OfferedFault, robotId: string | null): FaultRow => ({
    key: `${fault.name}/${robotId ?? ""}`,
    fault,
    robotId,
    active: active.find((each) => each.fault === fault.name && each.robot_id === robotId) ?? null,
  });
  const offered = offeredFaults.flatMap((fault) => {
    if (!fault.isOfRobot) return [row(fault, null)];
    return chosenId === null ? [] : [row(fault, chosenId)];
  });
  const others = active.flatMap(({ fault: name, robot_id: robotId }) => {
    const fault = offeredFaults.find((each) => each.name === name);
    return fault === undefined || robotId === null || robotId === chosenId ? [] : [row(fault, robotId)];
  });
  return [...offered, ...others];
}
