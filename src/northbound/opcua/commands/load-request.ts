import type { RobotId } from "../../../domain/robot.ts";
import type { StationNode } from "../options.ts";
import { conveyorRequest, isMotorCommand } from "./conveyor-slot.ts";
import type { Draft } from "./draft.ts";

/** `MotorCommand` of a station's slot besides those of a conveyor slot. */
const loadCommands = { load: 4, unload: 5 } as const;
/** The same two as in a conveyor slot. */
const turns = { CW: 2, CCW: 3 } as const;
const opposite = { CW: "CCW", CCW: "CW" } as const;

/** Whether `MotorCommand` of a station's slot may have this value. */
export function isLoadCommand(value: number): boolean {
  return isMotorCommand(value) || value === loadCommands.load || value === loadCommands.unload;
}

/**
 * The request that turns or stops one conveyor at a station; `load` is the direction in which conveyors take
 * a load there.
 */
export function loadRequest(
  robotId: RobotId,
  index: number | undefined,
  motor: number | undefined,
  load: StationNode["load"],
): Draft {
  if (motor !== loadCommands.load && motor !== loadCommands.unload) {
    return conveyorRequest(robotId, index, motor);
  }
  if (load === null) {
    return { problem: `MotorCommand ${motor}: the station's configuration does not say how to load` };
  }
  const isLoad = motor === loadCommands.load;
  const draft = conveyorRequest(robotId, index, turns[isLoad ? load : opposite[load]]);
  return "text" in draft ? { ...draft, text: `${isLoad ? "load" : "unload"}: ${draft.text}` } : draft;
}
