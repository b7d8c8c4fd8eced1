import type { Availability } from "../availability.ts";
import { pause, type SectionRun } from "../section-run.ts";
import { type Service, type ServiceOptions, startService } from "../service.ts";
import type { Observation } from "../service-probe.ts";

/** So many times the service is away for so long. */
export interface Outage {
  readonly awayMs: number;
  readonly rounds: number;
}

/** One outage as it was seen. */
export interface Round {
  /** From the end of the service to its successor's listening. */
  readonly awayMs: number;
  /** Of each robot: from the successor's listening to its being good again. */
  readonly recoveryMs: readonly number[];
  /** Robots that were not good meanwhile. */
  readonly leftGood: number;
  /** What the successor saw, in milliseconds since it listened. */
  readonly connectionsAtMs: readonly number[];
  readonly tokenRequestsAtMs: readonly number[];
}

export interface RecoveryParts {
  readonly service: Service;
  readonly options: ServiceOptions;
  readonly availability: Availability;
  readonly robots: number;
}

/** A successor is up and ready to listen this long after it is started. */
const BOOT_MS = 6_000;
const QUALITY_LOOK_MS = 1_000;
const RECOVERY_TIMEOUT_MS = 60_000;
const REST_MS = 3_000;

/** Kills the service without a word, and has a successor with the same keys take its ports. */
export async function recover(
  run: SectionRun,
  parts: RecoveryParts,
  outages: readonly Outage[],
): Promise<Round[]> {
  let { service } = parts;
  const rounds: Round[] = [];
  for (const { awayMs, rounds: times } of outages) {
    for (let time = 0; time < times; time += 1) {
      const { round, successor } = await one(run, { ...parts, service }, awayMs);
      rounds.push(round);
      service = successor;
      await pause(REST_MS);
    }
  }
  return rounds;
}

async function one(
  run: SectionRun,
  { service, options, availability, robots }: RecoveryParts,
  awayMs: number,
): Promise<{ readonly round: Round; readonly successor: Service }> {
  const startsInMs = Math.max(0, BOOT_MS - awayMs);
  const listenAtMs = Date.now() + startsInMs + awayMs;
  // It boots while its predecessor still serves: the ports are bound when they are due, to the millisecond.
  const starting = startService(run, { ...options, listenAtMs });
  await pause(startsInMs);
  availability.beginRound();
  const goneAtMs = Date.now();
  await service.child.end("SIGKILL");
  const successor = await starting;
  await availability.allGood(robots, RECOVERY_TIMEOUT_MS);
  // The quality of those that were good again first may still have to be said to be otherwise.
  await pause(QUALITY_LOOK_MS);
  await availability.allGood(robots, RECOVERY_TIMEOUT_MS);
  const listeningAtMs = firstOf(successor.observations, "listening");
  const seen = (kind: Observation["kind"]) =>
    successor.observations.filter((each) => each.kind === kind).map(({ atMs }) => atMs - listeningAtMs);
  return {
    successor,
    round: {
      awayMs: listeningAtMs - goneAtMs,
      recoveryMs: availability.goodAtMs().map((atMs) => Math.max(0, atMs - listeningAtMs)),
      leftGood: availability.leftGood,
      connectionsAtMs: seen("connection"),
      tokenRequestsAtMs: seen("token-request"),
    },
  };
}

/** The gRPC port is bound first. */
function firstOf(observations: readonly Observation[], kind: Observation["kind"]): number {
  const found = observations.find((each) => each.kind === kind);
  if (found === undefined) throw new Error(`the service saw no ${kind}`);
  return found.atMs;
}

/** The most in any second of a list of moments. */
export function peakASecond(atMs: readonly number[]): number {
  const sorted = [...atMs].sort((a, b) => a - b);
  let most = 0;
  let from = 0;
  for (const [to, moment] of sorted.entries()) {
    while (moment - (sorted[from] ?? moment) >= 1_000) from += 1;
    most = Math.max(most, to - from + 1);
  }
  return most;
}
