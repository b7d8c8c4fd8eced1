import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FG_LOAD_STATION } from "../../src/cli/export/block-files.ts";
import { errorId } from "../../src/domain/errors.ts";
import { type Clock, systemClock } from "../../src/platform/clock.ts";
import { seededRandom } from "../../src/simulator/world/random.ts";
import { createIdleClock } from "../support/idle-clock.ts";
import { type RunningSimulator, startSimulator } from "../support/simulator.ts";
import { type RunningGateway, startGateway } from "./e2e-harness.ts";
import { type FaultKind, faultKinds } from "./load-station/station-faults.ts";
import { createStationLine, type StationLine } from "./load-station/station-line.ts";
import { createStationPlant, ROBOT } from "./load-station/station-plant.ts";
import { describe as described, type Report, runVisits } from "./load-station/station-run.ts";
import {
  CONFIRM_WAIT_MS,
  NEXT_NUMBER,
  sendAway,
  sendThroughStation,
  sendToStation,
  stationScenario,
  stationSections,
  toldSince,
} from "./load-station/station-world.ts";

const SEED = Number(process.env.LOAD_STATION_SEED ?? 7);
const HEARTBEAT_MS = 2_000;
const CYCLE_MS = 200;
const MOVE_MS = 1_500;
/** For mistakes: a fault strikes while the load still moves, also where a cycle takes long. */
const SLOW_MOVE_MS = 5_000;
/** How many times faster than the machine's this time passes, while nothing is to be done. */
const PACE = 40;

const constants = {
  LinkTime: 1_000,
  OwnTime: 2_000,
  RollTime: 3_000,
  MoveTime: 8_000,
  StopTime: 8_000,
  LeaveTime: 20_000,
  ReadyTime: 20_000,
  LeaseTime: 20_000,
  GoOn: NEXT_NUMBER,
};

const bounds = {
  linkMs: constants.LinkTime,
  ownMs: constants.OwnTime,
  moveMs: constants.MoveTime,
  heartbeatMs: HEARTBEAT_MS,
  confirmMs: CONFIRM_WAIT_MS,
  commandMs: 1_500,
  lookMs: 1_000,
};

/** For mistakes: what strikes does so late in its step, and lasts long. */
const LATE_AND_LONG = 0.9;
/** The step in which both conveyors turn. */
const TURNING = 5;

const clock = createIdleClock(PACE);
const time = { nowMs: clock.monotonicMs, pass: clock.pass };
let folder: string;
let simulator: RunningSimulator;
let gateway: RunningGateway;
const control = () => simulator.control;

function start(gatewayClock: Clock): Promise<RunningGateway> {
  const sections = { ...stationSections(HEARTBEAT_MS), commands: { evidenceMs: 500, settleMs: 100 } };
  return startGateway(folder, simulator.endpoints, sections, gatewayClock);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fleetgate-load-"));
  const scenario = { kind: "given", scenario: stationScenario() } as const;
  simulator = await startSimulator({ dataDir: join(folder, "fleet"), scenario, clock });
  // The first start makes keys, which takes a time that is not this clock's.
  await (await start(systemClock)).stop();
  gateway = await start(clock);
}, 60_000);
afterAll(async () => {
  await gateway.stop();
  await simulator.stop();
  clock.close();
  await rm(folder, { recursive: true, force: true });
});

/** Runs visits with a controller of their own. */
async function run(
  visits: number,
  kinds: readonly FaultKind[],
  random: () => number,
  { source, moveMs = MOVE_MS }: { readonly source?: string; readonly moveMs?: number } = {},
): Promise<Report> {
  const plant = createStationPlant(control, time.nowMs, moveMs);
  const url = () => gateway.opcuaUrl;
  const line = createStationLine({ plant, time, cycleMs: CYCLE_MS, url, constants, source });
  async function restartGateway(): Promise<void> {
    let isUp = false;
    const restarted = gateway
      .stop()
      .then(() => start(clock))
      .finally(() => {
        isUp = true;
      });
    while (!isUp) await line.cycle();
    gateway = await restarted;
  }
  try {
    const report = await runVisits({
      line,
      plant,
      control,
      time,
      visits,
      kinds,
      bounds,
      restartGateway,
      random,
    });
    if (process.env.LOAD_STATION_FIGURES !== undefined) process.stderr.write(`${described(report)}\n`);
    return report;
  } finally {
    await line.close();
    // What a wrong block has left turning.
    for (const ok of [false, true])
      control().happen({ kind: "conveyor-health", robotId: ROBOT, index: 1, ok });
  }
}

test("every kind of fault once: no conveyor turns alone for longer than the page says, nothing is sent twice", async () => {
  const random = seededRandom(SEED);
  const idleIn = ({ kinds }: Report) => faultKinds.filter(({ name }) => kinds.get(name)?.struck === 0);
  const report = await run(faultKinds.length, faultKinds, random);
  expect(report.broken).toEqual([]);
  expect(report.kinds.get("none")?.served).toBe(1);
  // A visit may end before the step in which its fault strikes, on a machine with much else to do.
  const missed = idleIn(report);
  if (missed.length === 0) return;
  const again = await run(2 * missed.length, missed, random);
  expect(again.broken).toEqual([]);
  expect(idleIn(again)).toEqual([]);
}, 120_000);

/** A controller of its own, which waits for a robot to load. */
async function waitingLine(goOn: number): Promise<StationLine> {
  const plant = createStationPlant(control, time.nowMs, MOVE_MS);
  const url = () => gateway.opcuaUrl;
  const line = createStationLine({
    ...{ plant, time, cycleMs: CYCLE_MS, url },
    constants: { ...constants, GoOn: goOn },
  });
  await cyclesUntil(
    line,
    () => line.controller().number("StepNo") === WAITING && line.controller().is("Valid"),
  );
  plant.prepare(false);
  line.wishes.Load = true;
  return line;
}

const [WAITING, LEASING, LEAVING] = [1, 2, 9];
const MOST_CYCLES = 1_000;

async function cyclesUntil(line: StationLine, is: () => boolean): Promise<void> {
  for (let cycles = 0; cycles < MOST_CYCLES; cycles += 1) {
    await line.cycle();
    if (is()) return;
  }
  throw new Error(`in ${MOST_CYCLES} cycles not: ${is}; ${line.controller().all("StepNo", "ErrorID")}`);
}

test("with GoOn 0 a visit ends with the release of the lease; the robot stands until somebody sends it", async () => {
  const line = await waitingLine(0);
  const step = () => line.controller().number("StepNo");
  const before = control().record(0).at(-1)?.seq ?? 0;
  const missionId = sendToStation(control());
  await cyclesUntil(line, () => step() === LEAVING);
  expect(line.controller().is("Done")).toBe(true);
  await cyclesUntil(line, () => !line.controller().is("Leased"));
  const sinceMs = time.nowMs();
  await cyclesUntil(line, () => time.nowMs() - sinceMs > 2 * constants.LeaveTime);
  expect(step()).toBe(LEAVING);
  expect(toldSince(control(), before, missionId)).toMatchObject({ conveyor: 1, goOn: 0 });
  sendAway(control());
  await cyclesUntil(line, () => step() === WAITING);
  await line.close();
}, 60_000);

test("a robot on a traverse is not leased: its mission would go on in the middle of a transfer", async () => {
  const line = await waitingLine(NEXT_NUMBER);
  const steps = new Set<number>();
  const before = control().record(0).at(-1)?.seq ?? 0;
  sendThroughStation(control());
  await cyclesUntil(line, () => {
    steps.add(line.controller().number("StepNo"));
    expect(line.controller().is("Leased")).toBe(false);
    return line.controller().number("CommandErrorID") === errorId("MISSION_GOES_ON");
  });
  expect([...steps]).toEqual([WAITING, LEASING]);
  await cyclesUntil(line, () => line.controller().number("StepNo") === WAITING);
  expect(toldSince(control(), before, "")).toMatchObject({ conveyor: 0, goOn: 0 });
  await line.close();
}, 60_000);

/**
 * A command does not arrive, because the power fails in this step: the block must not take it for another.
 */
test.each([
  ["the release of the lease", "PLC: power lost before a write arrives", 7],
  ["the go on", "PLC: power lost before a write arrives", 6],
  ["the go on", "robot: sent away while the go on is to be repeated", 6],
] as const)(
  "%s does not arrive, %s (step %i): the robot is sent on once at most",
  async (_what, name, step) => {
    const kind = faultKinds.filter((one) => one.name === name).map((one) => ({ ...one, steps: [step] }));
    const { broken, kinds } = await run(1, kind, () => 0);
    expect(broken).toEqual([]);
    expect(kinds.get(name)).toMatchObject({ struck: 1, served: 1 });
  },
  60_000,
);

type Change = readonly [right: string, wrong: string];
/** A robot that has left is told to go on: it also hides no second go on any more. */
const tellsAnywhere: readonly Change[] = [
  ["AND (here OR StepNo <> 7)", ""],
  ["AND NOT here AND NOT goesOn THEN", "AND FALSE THEN"],
];

/** A mistake in the block, the kinds of faults that show it, and what is said of it. */
const mistakes: ReadonlyArray<readonly [string, readonly Change[], string, RegExp]> = [
  [
    "does not stop the robot's conveyor when it calls a person",
    [["turns AND (StepNo = 6 OR StepNo = 10)", "turns AND StepNo = 6"]],
    "station: not ready",
    /a conveyor turns on|alone for .*\(robotMs\)/,
  ],
  [
    "lets its conveyor run when tags are old",
    [["linkLost(IN := NOT Connected", "linkLost(IN := FALSE"]],
    "link: away for a time",
    /alone for .*\(ownMs\)/,
  ],
  [
    "lets its conveyor run when the robot's has stopped",
    [["NOT rolls AND NOT agreed THEN reason := 7", "FALSE THEN reason := 7"]],
    "robot: its conveyor stops",
    /alone for .*\(ownMs\)/,
  ],
  [
    "starts again when the answer was lost",
    [
      [
        "IF phase = 3 AND result <> 1 THEN reason := 7 + result;",
        "IF phase = 3 AND result <> 1 THEN phase := 1;",
      ],
    ],
    "start of the conveyor is not taken",
    /sent twice/,
  ],
  [
    "lets the robot go on again when the answer was lost",
    [["result = 3 THEN StepNo := 9;  doubt := TRUE;", "result = 3 THEN phase := 1;"]],
    "go on is not taken",
    /sent twice/,
  ],
  [
    "forgets in a loss of power that the robot has gone on",
    [["phase := 1;  wasTold := TRUE;", "phase := 1;  wasTold := FALSE;"], ...tellsAnywhere],
    "PLC: power lost before a write arrives",
    /sent twice/,
  ],
  [
    "lets a robot go on that has left",
    tellsAnywhere,
    "robot: sent away while the go on is to be repeated",
    /sent on from elsewhere/,
  ],
];

test.each(mistakes)(
  "a block that %s is found",
  async (_what, changes, name, problem) => {
    const kind = faultKinds
      .filter((one) => one.name === name)
      .map((one) => ({ ...one, steps: one.steps.includes(TURNING) ? [TURNING] : one.steps }));
    let source = FG_LOAD_STATION;
    for (const [right, wrong] of changes) {
      expect(source).toContain(right);
      source = source.replace(right, wrong);
    }
    const { broken } = await run(1, kind, () => LATE_AND_LONG, { source, moveMs: SLOW_MOVE_MS });
    expect(broken.join("\n")).toMatch(problem);
  },
  120_000,
);
