import type { RecordEntry } from "../../src/simulator/world/record.ts";
import type { Published } from "../support/recording-relay.ts";

/** An event as its broker got it. */
interface MissionEvent {
  readonly event_id: string;
  readonly robot_id: string;
  readonly mission_id: string;
  readonly from: string | null;
  readonly to: string;
  readonly jump?: boolean;
  readonly historical?: boolean;
}

interface CommandEvent {
  readonly event_id: string;
  readonly command_id: string;
  readonly to: string;
}

/** What the broker has, held against what really happened. */
export interface Verdict {
  /** What must not be; nothing, if all is well. */
  readonly faults: readonly string[];
  readonly events: number;
  readonly repeated: number;
  readonly historical: number;
  readonly jumps: number;
  readonly missions: number;
}

/**
 * The events of a mission are a chain: each begins where the one before ended, so one that is missing, or out
 * of order, shows. What the gateway missed while it was down is one link that is marked.
 */
export function judgeMissions(published: readonly Published[], record: readonly RecordEntry[]): Verdict {
  const faults: string[] = [];
  const seen = new Map<string, string>();
  const last = new Map<string, string>();
  const happened = statesOf(record);
  let [repeated, historical, jumps] = [0, 0, 0];
  for (const { topic, text, isAcknowledged } of published) {
    if (!isAcknowledged || !topic.endsWith("/event/mission")) continue;
    const event = JSON.parse(text) as MissionEvent;
    const what = `${event.robot_id} ${event.mission_id} ${event.from} → ${event.to}`;
    const before = seen.get(event.event_id);
    if (before !== undefined) {
      repeated += 1;
      if (before !== what) faults.push(`one id of two events: ${before}, ${what}`);
      continue;
    }
    seen.set(event.event_id, what);
    historical += event.historical === true ? 1 : 0;
    jumps += event.jump === true ? 1 : 0;
    const known = last.get(event.mission_id) ?? null;
    if (event.from !== known) faults.push(`${what}, but ${known} was told last`);
    last.set(event.mission_id, event.to);
    if (happened.get(event.mission_id)?.has(event.to) !== true) faults.push(`${what} never happened`);
  }
  return { faults, events: seen.size, repeated, historical, jumps, missions: last.size };
}

/**
 * The missions that are not told of to their end. One that ended while no gateway was there may have left its
 * robot's queue by the time that the next one looked.
 *
 * @param isMissed whether no gateway was there at the end of this mission
 */
export function unfinishedMissions(
  published: readonly Published[],
  record: readonly RecordEntry[],
  isMissed: (missionId: string) => boolean,
): string[] {
  const last = new Map<string, string>();
  for (const { topic, text, isAcknowledged } of published) {
    if (!isAcknowledged || !topic.endsWith("/event/mission")) continue;
    const { mission_id, to } = JSON.parse(text) as MissionEvent;
    last.set(mission_id, to);
  }
  const ends = new Map<string, string>();
  for (const { fact } of record) if (fact.what === "mission") ends.set(fact.missionId, stateOf(fact.to));
  return [...ends]
    .filter(([missionId, end]) => last.get(missionId) !== end && !isMissed(missionId))
    .map(([missionId, end]) => `${missionId} was told ${last.get(missionId) ?? "never"}, and is ${end}`);
}

/** The commands of the audit log that have no event, and those whose events contradict it. */
export function judgeCommands(published: readonly Published[], auditLines: readonly string[]): string[] {
  const told = new Map<string, Set<string>>();
  for (const { topic, text, isAcknowledged } of published) {
    if (!isAcknowledged || !topic.endsWith("/event/command")) continue;
    const { command_id, to } = JSON.parse(text) as CommandEvent;
    told.set(command_id, (told.get(command_id) ?? new Set()).add(to));
  }
  return auditLines.flatMap((line) => {
    const { protocol, user, request_id, outcome, code } = JSON.parse(line) as Record<string, string>;
    // Such a refusal is answered, and is no event (`conclusion.ts`).
    if (code === "SHUTTING_DOWN") return [];
    const id = `${protocol}:${user}/${request_id}`;
    if (told.get(id)?.has(outcome ?? "")) return [];
    return [
      `${id} ended ${outcome}, and its events say ${[...(told.get(id) ?? [])].join(", ") || "nothing"}`,
    ];
  });
}

function statesOf(record: readonly RecordEntry[]): ReadonlyMap<string, ReadonlySet<string>> {
  const states = new Map<string, Set<string>>();
  for (const { fact } of record) {
    if (fact.what !== "mission") continue;
    states.set(fact.missionId, (states.get(fact.missionId) ?? new Set()).add(stateOf(fact.to)));
  }
  return states;
}

function stateOf(status: string): string {
  return `STATE_${status.toUpperCase()}`;
}
