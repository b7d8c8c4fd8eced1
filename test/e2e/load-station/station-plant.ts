import type { Control } from "../../../src/simulator/control.ts";

export const ROBOT = "cart-1";
export const ROBOT_NUMBER = 7;
/** Code of the point where the station is. */
const STATION_POINT = "A";
/** The conveyor that is used. */
const INDEX = 1;

/** How long a conveyor turned without its counterpart, at most, while a kind of fault was in force. */
export interface Alone {
  ownMs: number;
  robotMs: number;
}

/** What really is: the load, the own conveyor and its sensors, and the robot of the simulated service. */
export interface StationPlant {
  /** What the controller's output is from now on. */
  drive(run: boolean): void;
  /** Brings the load, and the account of conveyors that turn alone, to this moment. */
  tick(): void;
  readonly signals: () => {
    readonly InPlace: boolean;
    readonly Occupied: boolean;
    readonly Turning: boolean;
  };
  /** A person puts the load where the work begins. */
  prepare(unload: boolean): void;
  robotTurns(): boolean;
  ownTurns(): boolean;
  isMoved(unload: boolean): boolean;
  /** Under which name the account is kept from now on. */
  account(name: string): void;
  alone(): ReadonlyMap<string, Alone>;
  /** What is broken at the station. */
  readonly broken: { drive: boolean; eye: boolean };
}

/** @param moveMs how long both conveyors turn until the load has moved */
export function createStationPlant(
  control: () => Control,
  nowMs: () => number,
  moveMs: number,
): StationPlant {
  const broken = { drive: false, eye: false };
  const alone = new Map<string, Alone>();
  const since: { own: number | null; robot: number | null } = { own: null, robot: null };
  let current: Alone = { ownMs: 0, robotMs: 0 };
  let isRunning = false;
  let isOccupied = true;
  let movedMs = 0;
  let atMs = nowMs();

  const robot = () => {
    const found = control()
      .robots()
      .find(({ robotId }) => robotId === ROBOT);
    if (found === undefined) throw new Error(`there is no ${ROBOT}`);
    return found;
  };
  const conveyor = () => robot().conveyors.find(({ index }) => index === INDEX);
  const robotTurns = () => conveyor()?.motor !== "stop";
  const ownTurns = () => isRunning && !broken.drive;
  const setLoaded = (loaded: boolean) =>
    control().happen({ kind: "conveyor-payload", robotId: ROBOT, index: INDEX, loaded });

  function note(which: "own" | "robot", isAlone: boolean): void {
    const begun = since[which];
    if (begun !== null) {
      const key = which === "own" ? "ownMs" : "robotMs";
      current[key] = Math.max(current[key], nowMs() - begun);
    }
    if (!isAlone) since[which] = null;
    else since[which] = begun ?? nowMs();
  }

  return {
    broken,
    drive(run) {
      isRunning = run;
    },
    tick() {
      const passedMs = nowMs() - atMs;
      atMs = nowMs();
      const [own, other] = [ownTurns(), robotTurns()];
      note("own", own && !other);
      note("robot", other && !own);
      if (!own || !other) return;
      const isBefore = movedMs < moveMs;
      movedMs += passedMs;
      if (!isBefore || movedMs < moveMs) return;
      setLoaded(isOccupied);
      isOccupied = !isOccupied;
    },
    signals: () => ({
      InPlace: robot().at === STATION_POINT,
      Occupied: isOccupied !== broken.eye,
      Turning: ownTurns(),
    }),
    prepare(unload) {
      isOccupied = !unload;
      movedMs = 0;
      setLoaded(unload);
    },
    robotTurns,
    ownTurns,
    isMoved: (unload) => isOccupied === unload && conveyor()?.loaded === !unload,
    account(name) {
      current = alone.get(name) ?? { ownMs: 0, robotMs: 0 };
      alone.set(name, current);
    },
    alone: () => alone,
  };
}
