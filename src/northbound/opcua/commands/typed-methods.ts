import type { MethodModel } from "../model/method.ts";
import { conveyorRequest } from "./conveyor-slot.ts";
import { commandInputs, conveyorMethods, slotMethod } from "./method-models.ts";
import { noParameters, slotOperations } from "./mission-request.ts";
import type { SlotCommand } from "./slot-command.ts";
import type { Argument, MissionParameters, MissionRobot, SlotOperation } from "./slot-operation.ts";

/** A method of a robot with typed arguments. */
export interface TypedMethod extends MethodModel {
  /** The operation of the fleet service, for the rights of its caller. */
  readonly operation: string;
  /** `values` are all inputs of a call. */
  command(values: readonly unknown[], robot: MissionRobot): SlotCommand;
}

const MILLI = 1_000;

type Given = Partial<MissionParameters> | { readonly problem: string };

/** The slot parameters that equal the values of a method's own inputs; a problem names the input. */
const readers: Readonly<Record<Argument, (values: readonly unknown[]) => Given>> = {
  nothing: () => ({}),
  goal([value]) {
    const destination = String(value ?? "");
    return destination === "" ? { problem: "Destination is empty: name where to" } : { destination };
  },
  goals([list]) {
    const destinations = Array.isArray(list) ? list.map((name) => String(name ?? "")) : [];
    const isNone = destinations.every((name) => name === "");
    return isNone ? { problem: "Destinations is empty: name where to" } : { destinations };
  },
  pose(values) {
    // The service accepts floats of 32 bits.
    const at = values.findIndex((value) => !Number.isFinite(Math.fround(Number(value))));
    if (at === -1) return { pose: values.map((value) => Math.round(Number(value) * MILLI)) };
    return {
      problem: `${poseInputs[at]} is no number, or too large: give X and Y in metres, and Heading in radians`,
    };
  },
  mission: ([missionId]) => ({ targetMissionId: String(missionId ?? "") }),
  task_chain: ([chainId]) => ({ targetTaskChainId: Number(chainId) }),
};
const poseInputs = ["X", "Y", "Heading"] as const;

/** One for each operation of a mission slot, and those of conveyors. */
export const typedMethods: readonly TypedMethod[] = [
  ...[...slotOperations.values()].map(ofOperation),
  {
    ...conveyorMethods.run,
    operation: "ControlConveyor",
    command(values, { robotId }) {
      const [at, motor] = ownValues(values);
      return conveyorRequest(robotId, Number(at), Number(motor));
    },
  },
  {
    ...conveyorMethods.stop,
    operation: "ControlConveyor",
    command(values, { robotId }) {
      const [at] = ownValues(values);
      return conveyorRequest(robotId, Number(at), 1);
    },
  },
];

function ofOperation(slotOperation: SlotOperation): TypedMethod {
  const { number, operation, argument, command } = slotOperation;
  return {
    ...slotMethod(slotOperation),
    operation,
    command(values, robot) {
      const given = readers[argument](ownValues(values));
      if ("problem" in given) return given;
      return command({ ...noParameters, operation: number, ...given }, robot, new Map());
    },
  };
}

/** Without the inputs of every command. */
function ownValues(values: readonly unknown[]): readonly unknown[] {
  return values.slice(commandInputs.length);
}
