import type { Control } from "../../../src/simulator/control.ts";
import type { StationLine } from "./station-line.ts";
import { ROBOT, type StationPlant } from "./station-plant.ts";
import { sendAway } from "./station-world.ts";

/** What a fault can reach. */
export interface Scene {
  readonly line: StationLine;
  readonly plant: StationPlant;
  readonly control: () => Control;
  /** The gateway ends, and starts again; resolves when it is there. The cycles of the PLC go on meanwhile. */
  restartGateway(): Promise<void>;
  /** Below 1. */
  readonly random: () => number;
}

/** Something that goes wrong once in a visit. */
export interface FaultKind {
  readonly name: string;
  /** It strikes in one of these steps of the block, `ANY` of them: 1 is before the robot is here. */
  readonly steps: readonly number[];
  /** It strikes in the first cycle of the step, or else it would come too late. */
  readonly isAtOnce?: true;
  strike(scene: Scene): Promise<unknown> | unknown;
  /**
   * For which reason a conveyor may turn without its counterpart, as docs/load-station.md says; see
   * `mostAlone`.
   */
  readonly own?: "untold";
  readonly robot?: "heartbeat" | "away" | "confirmation" | "own" | "unreachable";
}

/** Times that bound how long a conveyor turns alone, in milliseconds. */
export interface BoundTimes {
  readonly linkMs: number;
  readonly moveMs: number;
  readonly heartbeatMs: number;
  readonly ownMs: number;
  /** How long the service waits for a robot. */
  readonly confirmMs: number;
  /** A command through the slot and its effect, with the cycles of the PLC. */
  readonly commandMs: number;
  /** Between two looks of the gateway at heartbeats. */
  readonly lookMs: number;
}

/** What docs/load-station.md promises. `awayMs`: how long the gateway, or the link to it, was away. */
export function mostAlone({ own, robot }: FaultKind, times: BoundTimes, awayMs: number) {
  const { linkMs, moveMs, heartbeatMs, ownMs, confirmMs, commandMs, lookMs } = times;
  const robotMs = {
    heartbeat: heartbeatMs + lookMs + commandMs,
    away: Math.max(awayMs + linkMs, heartbeatMs + lookMs) + 2 * commandMs,
    confirmation: confirmMs + lookMs + 2 * commandMs,
    own: ownMs + commandMs,
    unreachable: Number.POSITIVE_INFINITY,
    none: commandMs,
  };
  return {
    ownMs: own === "untold" ? moveMs + commandMs : linkMs + commandMs,
    robotMs: robotMs[robot ?? "none"],
  };
}

const any = [2, 3, 4, 5, 6, 7, 8, 9] as const;
const turning = [4, 5, 5, 5, 6] as const;
/** Of cycles, of a loss of power: shorter and longer than a heartbeat. */
const LONGEST_DARK = 40;
/** Cycles: in the longest of them a load moves. */
const LONGEST_UNTIL_WRITE = 60;

const command = (
  operation: "ControlConveyor" | "CreateMission",
  effect: "delay-taken" | "delay-not-taken" | "delay-taken-late" | "internal-after",
) => ({ kind: "command", operation, robotId: ROBOT, count: 1, effect }) as const;

const dark = ({ random }: Scene) => 2 + Math.floor(random() * LONGEST_DARK);

/**
 * The power fails while the block writes the command of its next step, which does not arrive. That of this
 * step may be on its way, or not be written yet: it arrives.
 */
async function losePowerBeforeWrite(scene: Scene): Promise<void> {
  const { line } = scene;
  const step = line.controller().number("StepNo");
  let ofStep = 0;
  line.broken.silentAfter = step;
  for (let cycles = LONGEST_UNTIL_WRITE; cycles > 0; cycles -= 1) {
    const [number = 0] = line.controller().command();
    if (line.controller().number("StepNo") <= step) ofStep = number;
    else if (number > 0 && number !== ofStep) break;
    await line.cycle();
  }
  line.broken.silentAfter = null;
  await line.losePower(dark(scene), true);
}
const health = (ok: boolean) => ({ kind: "conveyor-health", robotId: ROBOT, index: 1, ok }) as const;

/** Every kind of fault, and the visit without one. */
export const faultKinds: readonly FaultKind[] = [
  { name: "none", steps: [1], strike() {} },
  {
    name: "PLC: power lost, memory kept",
    robot: "heartbeat",
    steps: any,
    strike: (scene) => scene.line.losePower(dark(scene), true),
  },
  {
    name: "PLC: power and memory lost",
    robot: "heartbeat",
    steps: any,
    strike: (scene) => scene.line.losePower(dark(scene), false),
  },
  {
    name: "PLC: power lost before a write arrives",
    robot: "heartbeat",
    steps: [3, 6, 7],
    isAtOnce: true,
    strike: losePowerBeforeWrite,
  },
  { name: "gateway: killed", robot: "away", steps: any, strike: ({ restartGateway }) => restartGateway() },
  { name: "link: cut", robot: "away", steps: any, strike: ({ line }) => line.cut() },
  {
    name: "link: away for a time",
    robot: "away",
    steps: any,
    async strike(scene) {
      scene.line.broken.link = true;
      await scene.line.cut();
      for (let cycles = dark(scene); cycles > 0; cycles -= 1) await scene.line.cycle();
      scene.line.broken.link = false;
    },
  },
  {
    name: "link: writes end with errors",
    steps: [2, 3, 4, 5],
    strike({ line }) {
      line.broken.writes = true;
    },
  },
  {
    name: "answer lost: start of the conveyor",
    robot: "confirmation",
    steps: [3],
    isAtOnce: true,
    strike: ({ control }) => control().apply(command("ControlConveyor", "delay-taken")),
  },
  {
    name: "start of the conveyor comes late",
    robot: "confirmation",
    steps: [3],
    isAtOnce: true,
    strike: ({ control }) => control().apply(command("ControlConveyor", "delay-taken-late")),
  },
  {
    name: "start of the conveyor is not taken",
    robot: "confirmation",
    steps: [3],
    isAtOnce: true,
    strike: ({ control }) => control().apply(command("ControlConveyor", "delay-not-taken")),
  },
  {
    name: "answer lost: stop of the conveyor",
    robot: "confirmation",
    steps: [5],
    strike: ({ control }) => control().apply(command("ControlConveyor", "delay-taken")),
  },
  {
    name: "stop of the conveyor is not taken",
    robot: "confirmation",
    steps: [5],
    strike: ({ control }) => control().apply(command("ControlConveyor", "delay-not-taken")),
  },
  {
    name: "answer lost: go on",
    steps: [5],
    strike: ({ control }) => control().apply(command("CreateMission", "delay-taken")),
  },
  {
    name: "go on is not taken",
    steps: [5],
    strike: ({ control }) => control().apply(command("CreateMission", "delay-not-taken")),
  },
  {
    name: "robot: sent away while the go on is to be repeated",
    robot: "heartbeat",
    steps: [6],
    isAtOnce: true,
    async strike(scene) {
      await losePowerBeforeWrite(scene);
      sendAway(scene.control());
    },
  },
  { name: "robot: leaves", steps: turning, strike: ({ control }) => sendAway(control()) },
  {
    name: "robot: its conveyor stops",
    steps: [5],
    strike: ({ control }) => control().happen(health(false)),
  },
  {
    name: "robot: its conveyor stops, and that is not told",
    own: "untold",
    steps: [5],
    strike({ control }) {
      control().apply({
        kind: "stream",
        effect: "drop",
        robotId: ROBOT,
        count: 1,
        stream: "SubscribeConveyorStatus",
      });
      control().happen(health(false));
    },
  },
  {
    name: "robot: out of reach",
    robot: "unreachable",
    steps: turning,
    strike: ({ control }) => control().happen({ kind: "offline", robotId: ROBOT }),
  },
  {
    name: "permit falls: Enable",
    steps: any,
    strike({ line }) {
      line.wishes.Enable = false;
    },
  },
  {
    name: "permit falls: heartbeat",
    robot: "heartbeat",
    steps: turning,
    strike({ line }) {
      line.broken.heartbeat = true;
    },
  },
  {
    name: "station: not ready",
    steps: turning,
    strike({ line }) {
      line.wishes.Ready = false;
    },
  },
  {
    name: "station: its conveyor does not turn",
    robot: "own",
    steps: [3, 5],
    strike({ plant }) {
      plant.broken.drive = true;
    },
  },
  {
    name: "station: the photo-eye is wrong",
    steps: [5],
    strike({ plant }) {
      plant.broken.eye = true;
    },
  },
];
