import { gatewayErrors } from "../../../src/domain/errors.ts";
import { brokenPromises } from "../../daemon/crash-rounds-story.ts";
import { traceOf } from "../../daemon/story.ts";
import { type BoxTold, type Command, type HeldTime, isFinal } from "./clients.ts";
import type { ServiceLog } from "./service-log.ts";

/** What a round has shown, against the service's record. */
export interface Verdict {
  readonly commands: number;
  readonly starts: number;
  /** Each outcome, and how many starts that were told it reached the service 0, 1 and more times. */
  readonly table: Readonly<Record<string, readonly [number, number, number]>>;
  /** The same of stops. */
  readonly stops: Readonly<Record<string, readonly [number, number, number]>>;
  /** What must not be. */
  readonly broken: readonly string[];
  readonly open: number;
  readonly holds: number;
  /** Starts of robots whose hold was stored: how long after that each came, in milliseconds. */
  readonly heldStartsMs: readonly number[];
  /** Starts that arrived after their outcome was told. */
  readonly lateStarts: number;
  /** Starts that a standby refused as "not sent", and that had arrived before it was asked. */
  readonly standbyRefusedButSent: number;
  /** Starts whose outcome was told although it was not recorded. */
  readonly unrecordedStarts: number;
}

/**
 * What has its permission when a hold is stored may leave for two seconds: with the drift of a clock, and the
 * time of the bytes.
 */
const PERMITTED_MS = 2_500;
/** Between what is broken and how it came. */
export const STORY = " | ";

export function verdictOf(commands: readonly Command[], held: readonly HeldTime[], log: ServiceLog): Verdict {
  log.read();
  const starts = commands.filter(({ isStop }) => !isStop);
  const late = starts.flatMap((start) => lateArrivals(start, log));
  const heldStarts = held.flatMap((time) => startsWhileHeld(time, commands, log));
  return {
    commands: commands.length,
    starts: starts.length,
    table: tableOf(starts, log),
    stops: tableOf(
      commands.filter(({ isStop }) => isStop),
      log,
    ),
    broken: [
      ...commands.flatMap((command) => brokenOf(command, log)),
      ...mixedEpochs(starts, log),
      ...late,
      ...heldStarts.filter(({ lateMs }) => lateMs > PERMITTED_MS).map(({ text }) => text),
    ],
    open: commands.filter(({ told }) => told.length === 0).length,
    holds: held.length,
    heldStartsMs: heldStarts.map(({ lateMs }) => Math.round(lateMs)),
    lateStarts: late.length,
    standbyRefusedButSent: starts.filter((start) => wasRefusedByStandby(start, log)).length,
    unrecordedStarts: starts.filter(({ told }) => told.some((each) => !isFinal(each))).length,
  };
}

const sendings = (command: Command, log: ServiceLog): number =>
  traceOf(command, log.of(command.token)).sendings;

function wasRefusedByStandby({ token, standby }: Command, { arrivals }: ServiceLog): boolean {
  const arrival = arrivals.find((each) => each.token === token);
  if (arrival === undefined) return false;
  return standby.some(({ outcome, askedAtMs }) => outcome === "refused" && askedAtMs > arrival.atMs);
}

function brokenOf(command: Command, log: ServiceLog): readonly string[] {
  const told = command.told.filter(isFinal);
  // A stop is sent again where a start may have arrived after it, whatever became of the stop itself.
  const broken = command.isStop
    ? changedOf(told)
    : [...brokenPromises({ ...command, told }, log.of(command.token))];
  if (command.told.length === 0) broken.push(`${command.id} ${command.operation} has no outcome`);
  if (told.some(({ code }) => code === "STANDBY"))
    broken.push(`${command.id} ${command.operation} ended by the word of a standby`);
  const sent = sendings(command, log);
  const refused = told.find(
    ({ outcome, code }) => outcome === "refused" && Object.hasOwn(gatewayErrors, code),
  );
  if (refused !== undefined && sent > 0 && !command.isStop)
    broken.push(`${command.id} ${command.operation} was refused ${refused.code}, and was sent ${sent} times`);
  return broken.map((text) => `${text}${STORY}${command.robotId}: ${storyOf(command, command.askedAtMs)}`);
}

/** A start of a process arrives after one of its successor for the same robot. */
function mixedEpochs(starts: readonly Command[], { arrivals }: ServiceLog): readonly string[] {
  const byToken = new Map(starts.map((start) => [start.token, start]));
  const lives = new Map<string, number[]>();
  const broken: string[] = [];
  for (const { robotId, token, atMs } of arrivals) {
    const start = byToken.get(token);
    if (start === undefined || start.takenBy === null) continue;
    const before = lives.get(robotId) ?? [];
    lives.set(robotId, before);
    const place = before.indexOf(start.takenBy);
    if (place === -1) before.push(start.takenBy);
    else if (place < before.length - 1) {
      const story = storyOf(start, atMs);
      broken.push(
        `a start of ${robotId} by life ${start.takenBy} came after one of its successor${STORY}${story}`,
      );
    }
  }
  return broken;
}

/** A start that arrives when its sender has been told what became of it. */
function lateArrivals(start: Command, { arrivals }: ServiceLog): readonly string[] {
  const told = start.told.find(isFinal);
  if (told === undefined) return [];
  return arrivals
    .filter(({ token, seq }) => token === start.token && seq > told.seq)
    .map(
      ({ atMs }) =>
        `${start.id} came ${Math.round(atMs - told.atMs)} ms after it was told${STORY}${storyOf(start, told.atMs)}`,
    );
}

function changedOf([first, ...later]: readonly BoxTold[]): string[] {
  return later.flatMap(({ outcome, code }) =>
    outcome === first?.outcome && code === first.code
      ? []
      : [`was told ${first?.outcome} ${first?.code}, then ${outcome} ${code}`],
  );
}

function tableOf(commands: readonly Command[], log: ServiceLog): Verdict["table"] {
  const table: Record<string, [number, number, number]> = {};
  for (const command of commands) {
    const last = command.told.at(-1);
    const name = last === undefined ? "nothing" : `${last.outcome} ${last.code}`;
    table[name] ??= [0, 0, 0];
    const times = Math.min(sendings(command, log), 2) as 0 | 1 | 2;
    table[name][times] += 1;
  }
  return table;
}

function startsWhileHeld(
  { robotId, fromSeq, fromMs, untilSeq }: HeldTime,
  commands: readonly Command[],
  { arrivals }: ServiceLog,
) {
  return arrivals
    .filter((start) => start.robotId === robotId && start.seq > fromSeq && start.seq <= untilSeq)
    .map(({ token, atMs }) => {
      const lateMs = atMs - fromMs;
      const own = commands.find((command) => command.token === token);
      const story = own === undefined ? "" : storyOf(own, fromMs);
      return {
        lateMs,
        text: `a start of ${robotId} came ${Math.round(lateMs)} ms after its hold${STORY}${story}`,
      };
    });
}

/** Of what standbys answered, the first and the last. */
const SHOWN = 3;

/** @param sinceMs that the times are counted from */
function storyOf({ id, askedAtMs, takenBy, standby, told }: Command, sinceMs: number): string {
  const at = (ms: number) => `${Math.round(ms - sinceMs)} ms`;
  const shown =
    standby.length <= 2 * SHOWN ? standby : [...standby.slice(0, SHOWN), ...standby.slice(-SHOWN)];
  const answers = [...shown, ...told].map(
    ({ box, outcome, code, message, atMs }) => `${at(atMs)} ${box} ${outcome} ${code} (${message})`,
  );
  return [`${id} asked at ${at(askedAtMs)}, taken by life ${takenBy}`, ...answers].join("; ");
}
