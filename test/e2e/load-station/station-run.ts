import { type BoundTimes, type FaultKind, faultKinds, mostAlone, type Scene } from "./station-faults.ts";
import type { LineTime } from "./station-line.ts";
import { type Alone, ROBOT } from "./station-plant.ts";
import { sendAway, sendToStation, toldSince } from "./station-world.ts";

/** What became of the visits with one kind of fault. */
export interface Tally extends Alone {
  visits: number;
  /** Those in which the fault struck. */
  struck: number;
  served: number;
  /** How often the block called a person, by its code. */
  readonly codes: Map<number, number>;
  /** How long the gateway, or the way to it, was away at most. */
  awayMs: number;
}

export interface Report {
  readonly kinds: ReadonlyMap<string, Tally>;
  /** What broke a promise, in words. */
  readonly broken: readonly string[];
}

export interface RunParts extends Scene {
  readonly time: LineTime;
  readonly visits: number;
  readonly bounds: BoundTimes;
  readonly kinds?: readonly FaultKind[];
}

const [OFF, WAITING, LEAVING, FAULT] = [0, 1, 9, 10];
/** That a visit, or a person, takes at most. */
const PATIENCE_MS = 200_000;
/** That a stop takes at most, also of a gateway that has just started. */
const LONGEST_STOP_MS = 40_000;
/** Cycles. */
const LONGEST_WAIT_IN_STEP = 4;

/** Loads and unloads in turn, each visit with another kind of fault. */
export async function runVisits(parts: RunParts): Promise<Report> {
  const kinds = parts.kinds ?? faultKinds;
  const tallies = new Map<string, Tally>();
  const broken: string[] = [];
  await settle(parts, "the first visit", broken);
  for (let visit = 0; visit < parts.visits; visit += 1) {
    const kind = kinds[visit % kinds.length] as FaultKind;
    const tally = tallies.get(kind.name) ?? {
      visits: 0,
      struck: 0,
      served: 0,
      codes: new Map<number, number>(),
      awayMs: 0,
      ownMs: 0,
      robotMs: 0,
    };
    tallies.set(kind.name, tally);
    // Each kind meets loading and unloading in turn.
    const isUnload = (visit + Math.floor(visit / kinds.length)) % 2 === 1;
    await serve(parts, kind, isUnload, tally, broken);
  }
  for (const [name, alone] of parts.plant.alone()) Object.assign(tallies.get(name) ?? {}, alone);
  for (const kind of kinds) {
    const tally = tallies.get(kind.name);
    if (tally !== undefined) broken.push(...tooLongAlone(kind, tally, parts.bounds));
  }
  return { kinds: tallies, broken };
}

function tooLongAlone(kind: FaultKind, tally: Tally, bounds: BoundTimes): readonly string[] {
  const most = mostAlone(kind, bounds, tally.awayMs);
  return (["ownMs", "robotMs"] as const)
    .filter((which) => tally[which] > most[which])
    .map((which) => `${kind.name}: alone for ${tally[which]} ms (${which}), at most ${most[which]}`);
}

async function serve(
  parts: RunParts,
  kind: FaultKind,
  isUnload: boolean,
  tally: Tally,
  broken: string[],
): Promise<void> {
  const { line, plant, control, random } = parts;
  const what = `${kind.name}, ${isUnload ? "unload" : "load"}`;
  tally.visits += 1;
  plant.account(kind.name);
  plant.prepare(isUnload);
  Object.assign(line.wishes, { Load: !isUnload, Unload: isUnload });
  const before = control().record(0).at(-1)?.seq ?? 0;
  const missionId = sendToStation(control());
  const step = kind.steps[Math.floor(random() * kind.steps.length)];
  let waits = kind.isAtOnce === true ? 0 : Math.floor(random() * LONGEST_WAIT_IN_STEP);
  let hasWorked = false;
  let isReached = false;
  let isStruck = false;
  let strikes = "no fault";
  const begunMs = parts.time.nowMs();
  for (;;) {
    if (parts.time.nowMs() - begunMs > PATIENCE_MS)
      throw new Error(`${what}: the visit does not end: ${shown(parts)}`);
    await line.cycle();
    const now = line.controller().number("StepNo");
    hasWorked ||= now > WAITING;
    if (now === FAULT || (now === OFF && isStruck)) break;
    if (now <= WAITING && hasWorked && !plant.signals().InPlace && (isStruck || !isReached)) break;
    isReached ||= now === step;
    if (isStruck || !isReached || waits-- > 0) continue;
    isStruck = true;
    strikes = `the fault in step ${now}, ${line.controller().all("phase", "result", "Command")}`;
    tally.struck += 1;
    const fromMs = parts.time.nowMs();
    await kind.strike(parts);
    tally.awayMs = Math.max(tally.awayMs, parts.time.nowMs() - fromMs);
  }
  const code = line.controller().number("ErrorID");
  tally.codes.set(code, (tally.codes.get(code) ?? 0) + 1);
  const isMoved = plant.isMoved(isUnload);
  if (code === 0 && isMoved) tally.served += 1;
  // A robot that was served and then does not leave is Done, with a code.
  else if (line.controller().is("Done") && !isMoved) broken.push(`${what}: Done, and nothing has moved`);
  else if (code === 0 && kind.name === "none") broken.push(`${what}: no fault, and nothing has moved`);
  await settle(parts, what, broken);
  const { conveyor, goOn, elsewhere, commands } = toldSince(control(), before, missionId);
  const where = `${strikes}; ${commands}`;
  if (conveyor > 1 || goOn > 1)
    broken.push(`${what}: sent twice: ${conveyor} starts, ${goOn} missions (${where})`);
  if (elsewhere > 0) broken.push(`${what}: sent on from elsewhere (${where})`);
}

/** A person mends what is broken, looks at the conveyors, sends the robot away and resets the block. */
async function settle(parts: RunParts, what: string, broken: string[]): Promise<void> {
  const { line, plant, control } = parts;
  Object.assign(line.wishes, { Load: false, Unload: false });
  const begunMs = parts.time.nowMs();
  for (let cycles = 0; plant.robotTurns() || plant.ownTurns(); cycles += 1) {
    if (parts.time.nowMs() - begunMs > LONGEST_STOP_MS) {
      broken.push(`${what}: a conveyor turns on: ${shown(parts)}`);
      break;
    }
    await line.cycle();
    // The robot comes back into sight: it cannot be stopped before.
    if (cycles === 20) control().happen({ kind: "online", robotId: ROBOT });
  }
  control().clearFaults();
  control().happen({ kind: "online", robotId: ROBOT });
  control().happen({ kind: "conveyor-health", robotId: ROBOT, index: 1, ok: true });
  Object.assign(plant.broken, { drive: false, eye: false });
  Object.assign(line.broken, { heartbeat: false, link: false, writes: false, silentAfter: null });
  Object.assign(line.wishes, { Enable: true, Ready: true });
  let isSent = false;
  for (let cycles = 0; ; cycles += 1) {
    if (parts.time.nowMs() - begunMs > PATIENCE_MS)
      throw new Error(`${what}: a person cannot put it right: ${shown(parts)}`);
    const step = line.controller().number("StepNo");
    // The robot stays for as long as the block looks after it.
    if (!isSent && (step <= WAITING || step === LEAVING)) {
      sendAway(control());
      isSent = true;
    }
    line.wishes.Reset = cycles % 10 > 5;
    await line.cycle();
    if (isSent && isAtRest(parts)) return;
  }
}

function isAtRest({ line, plant }: RunParts): boolean {
  const controller = line.controller();
  const isAlone = !plant.signals().InPlace && !controller.is("RobotHere");
  return isAlone && controller.number("StepNo") === WAITING && controller.is("Valid");
}

function shown({ line }: Pick<RunParts, "line">): string {
  return line
    .controller()
    .all(
      ...["StepNo", "ErrorID", "FaultStep", "Connected", "Valid", "RobotHere", "RobotHereNo", "Leased"],
      ...[
        "Permitted",
        "Loaded",
        "Rolling",
        "Occupied",
        "InPlace",
        "Outcome",
        "CommandErrorID",
        "Answer",
        "Command",
      ],
      ...["phase", "result", "stopPhase", "turns", "goesOn", "wasTold", "robot", "alive", "Enable"],
    );
}

/** The figures, a line a kind. */
export function describe({ kinds }: Report): string {
  const lines = [...kinds].map(([name, { visits, struck, served, codes, ownMs, robotMs, awayMs }]) => {
    const called = [...codes].map(([code, count]) => `${code}:${count}`).join(" ");
    return `${name.padEnd(48)} visits ${visits} struck ${struck} served ${served} codes ${called} own ${Math.round(ownMs)} robot ${Math.round(robotMs)} away ${Math.round(awayMs)}`;
  });
  return lines.join("\n");
}
