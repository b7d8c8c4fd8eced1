import type { FaultName, SimulatedFaultState } from "../../northbound/web/api/simulator.ts";

/** A fault in the view, in words. */
export interface OfferedFault {
  readonly name: FaultName;
  readonly isOfRobot: boolean;
  readonly label: string;
  /** What the simulated service does. */
  readonly does: string;
  /** Where its effect can be seen. */
  readonly look: string;
}

export const offeredFaults: readonly OfferedFault[] = [
  {
    name: "cut",
    isOfRobot: false,
    label: "Cut the link",
    does: "The service closes all connections, and takes no new ones.",
    look: "The gateway says that it does not reach the service. Values become offline, then lost.",
  },
  {
    name: "silence",
    isOfRobot: false,
    label: "Silence",
    does: "Connections stay open, and nothing comes.",
    look: "Values stay good until the silence is noticed, then become stale or offline.",
  },
  {
    name: "block",
    isOfRobot: true,
    label: "Block the robot",
    does: "Something stands in its way. After a while its mission fails.",
    look: "The first line of the robot's page, and its mission.",
  },
  {
    name: "lost_answer",
    isOfRobot: true,
    label: "Lose the next answer",
    does: "The robot takes its next command, and the answer does not come. Then the fault is over.",
    look: "The command: after ten seconds its outcome is what the gateway has seen, or unknown.",
  },
  {
    name: "flat_battery",
    isOfRobot: true,
    label: "Flat battery",
    does: "The robot has no charge left, and stands. At the end it has its charge of before.",
    look: "The robot's battery, its missions, and the alarms.",
  },
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
