import type { Batch } from "../../contracts/link.ts";
import type { Stage } from "../../contracts/stage.ts";
import type { StateChange } from "../../domain/change.ts";
import { type CommandIdentity, commandId } from "../../domain/command.ts";
import type { FleetEvent } from "../../domain/event.ts";
import type { Mission } from "../../domain/mission.ts";
import type { RobotId } from "../../domain/robot.ts";
import { BoundedMap } from "../../platform/bounded-map.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Shared } from "../parts.ts";

/**
 * Finds out which command made which mission. A mission of owner `api` that no command of this gateway made
 * is foreign: another client made it, often a duplicate gateway (docs/commands.md, Two gateways for one
 * fleet).
 */
export interface Attribution {
  /** A command has made this mission, as the service or evidence says. */
  claim(missionId: string, command: CommandIdentity): void;
  /** A command for this robot had an unknown outcome: it may have made missions. */
  suspect(robotId: RobotId): void;
  /** The command that made a mission; null: not known. */
  commandOf(missionId: string): CommandIdentity | null;
  /** Whether a mission is known to belong to another command than this one. */
  isOthers(missionId: string, commandId: string): boolean;
  /** A call that makes a mission for the command's robot has left. Its answer will name the mission. */
  expect(command: Maker): void;
  /** The missions of the command are known, or will never be known. */
  settle(command: Maker): void;
  /** Whether a mission that is new on this robot may still be attributed to a command. */
  isExpected(robotId: RobotId): boolean;
  /** A mission was seen for the first time. */
  seen(robotId: RobotId, mission: Mission): void;
  /** Counts missions as foreign that no answer has named in time. Call it now and then. */
  evaluate(): void;
  /** Foreign missions since the start. */
  foreignMissions(): number;
  /**
   * Attributes the events of a batch. Streams are faster than answers, and show a mission before the service
   * has named the command that made it. Such an event goes on by `later`, when that is known, and later
   * events of its robot wait behind it, in their order. State never waits (docs/internals/decisions.md, The
   * event of a new mission waits for the answer).
   */
  readonly apply: Stage["apply"];
}

export interface AttributionParts extends Pick<Shared, "clock"> {
  /** Called for each foreign mission. */
  readonly onForeign: (robotId: RobotId) => void;
}

/** A command that makes missions. */
interface Maker {
  readonly id: string;
  readonly robotId: RobotId | null;
}

interface Unclaimed {
  readonly robotId: RobotId;
  readonly missionId: string;
  readonly seenAtMs: number;
}

/** How long a mission may wait for the answer that names it. */
const CLAIM_MS = 30_000;
const MAX_CLAIMS = 20_000;
const MAX_UNCLAIMED = 2_000;
/** A late event is worse than one that does not name its command. */
const LONGEST_DELAY_MS = 2_000;
const MOST_DELAYED = 256;

export function createAttribution({ clock, onForeign }: AttributionParts): Attribution {
  /** One for each robot: its queue has one command in flight. */
  const expected = new Map<RobotId, string>();
  const claims = new BoundedMap<string, CommandIdentity>(MAX_CLAIMS);
  const suspects = new Map<RobotId, number>();
  const unclaimed: Unclaimed[] = [];
  const gate = createEventGate(
    clock,
    (robotId) => expected.has(robotId),
    (missionId) => claims.get(missionId) ?? null,
  );
  let foreign = 0;

  function evaluate(): void {
    const nowMs = clock.monotonicMs();
    for (let oldest = unclaimed[0]; oldest !== undefined; oldest = unclaimed[0]) {
      if (nowMs - oldest.seenAtMs < CLAIM_MS && unclaimed.length <= MAX_UNCLAIMED) return;
      unclaimed.shift();
      if (!claims.has(oldest.missionId) && !isSuspect(oldest)) {
        foreign += 1;
        onForeign(oldest.robotId);
      }
    }
  }

  /** Whether a command with an unknown ending may have made it. */
  function isSuspect({ robotId, seenAtMs }: Unclaimed): boolean {
    const sinceMs = suspects.get(robotId);
    return sinceMs !== undefined && Math.abs(seenAtMs - sinceMs) <= 2 * CLAIM_MS;
  }

  return {
    claim(missionId, { source, requestId }) {
      if (claims.has(missionId)) return;
      // The identity only, because the request of a command may be long.
      claims.set(missionId, { source, requestId });
    },
    suspect: (robotId) => void suspects.set(robotId, clock.monotonicMs()),
    expect({ id, robotId }) {
      if (robotId !== null) expected.set(robotId, id);
    },
    settle({ id, robotId }) {
      if (robotId === null || expected.get(robotId) !== id) return;
      expected.delete(robotId);
      gate.release(robotId);
    },
    isExpected: (robotId) => expected.has(robotId),
    commandOf: (missionId) => claims.get(missionId) ?? null,
    isOthers(missionId, id) {
      const maker = claims.get(missionId);
      return maker !== undefined && commandId(maker) !== id;
    },
    seen(robotId, mission) {
      if (mission.owner !== "api" || claims.has(mission.missionId)) return;
      unclaimed.push({ robotId, missionId: mission.missionId, seenAtMs: clock.monotonicMs() });
      evaluate();
    },
    evaluate,
    foreignMissions: () => foreign,
    apply: gate.apply,
  };
}

type Later = Parameters<Stage["apply"]>[1];

/** Reads the changes of robots. */
interface Observer {
  observed(changes: readonly StateChange[]): void;
}

/** @param observers see each batch before its events are attributed, in this order */
export function createAttributionStage(
  { apply }: Pick<Attribution, "apply">,
  observers: readonly Observer[],
): Stage {
  return {
    name: "attribution",
    apply(batch, later) {
      for (const observer of observers) observer.observed(batch.changes);
      return apply(batch, later);
    },
  };
}

interface Delayed {
  readonly events: FleetEvent[];
  readonly later: Later;
  cancel: () => void;
}

/** Lets events pass when their command is known, or when it is known that they have none. */
function createEventGate(
  clock: Clock,
  isExpected: Attribution["isExpected"],
  commandOf: Attribution["commandOf"],
) {
  const delayed = new Map<RobotId, Delayed>();

  function release(robotId: RobotId): void {
    const waiting = delayed.get(robotId);
    if (waiting === undefined) return;
    delayed.delete(robotId);
    waiting.cancel();
    waiting.later({ changes: [], events: waiting.events.map(attributed) });
  }

  function attributed(event: FleetEvent): FleetEvent {
    if (event.kind !== "mission" || event.command !== null) return event;
    const command = commandOf(event.missionId);
    return command === null ? event : { ...event, command };
  }

  function mustWait(event: FleetEvent): boolean {
    if (delayed.has(event.robotId)) return true;
    if (event.kind !== "mission" || event.from !== null || event.command !== null) return false;
    return event.owner === "api" && isExpected(event.robotId);
  }

  function delay(event: FleetEvent, later: Later): void {
    const { robotId } = event;
    let waiting = delayed.get(robotId);
    if (waiting === undefined) {
      waiting = { events: [], later, cancel: clock.after(LONGEST_DELAY_MS, () => release(robotId)) };
      delayed.set(robotId, waiting);
    }
    waiting.events.push(event);
    if (waiting.events.length !== MOST_DELAYED) return;
    // Not at once: earlier events of the same batch are not passed on yet.
    waiting.cancel();
    waiting.cancel = clock.after(0, () => release(robotId));
  }

  return {
    /** Nothing is expected on this robot any more: passes on its waiting events. */
    release,
    apply(batch: Batch, later: Later): Batch {
      if (batch.events.length === 0) return batch;
      const events: FleetEvent[] = [];
      for (const unattributed of batch.events) {
        const event = attributed(unattributed);
        if (mustWait(event)) delay(event, later);
        else events.push(event);
      }
      return { changes: batch.changes, events };
    },
  };
}

/** Raises an alarm while another client keeps sending missions to a robot: often a duplicate gateway. */
export interface ForeignWatch {
  /** A foreign mission was seen. */
  seen(robotId: RobotId): void;
  /** Ends the alarms of robots that had no foreign mission for long enough. Call it now and then. */
  tick(): void;
  /** Robots whose alarm is on. */
  count(): number;
}

/** A person with a service tool may send one foreign mission; so many within the time come from a program. */
const MISSIONS = 3;
const WITHIN_MS = 600_000;

interface Seen {
  /** Monotonic times of the newest missions, at most `MISSIONS` of them. */
  readonly timesMs: readonly number[];
  readonly isOn: boolean;
}

export function createForeignWatch({
  clock,
  log,
  alarmRegistry,
}: Pick<Shared, "clock" | "log" | "alarmRegistry">): ForeignWatch {
  const robots = new Map<RobotId, Seen>();

  function setCondition(robotId: RobotId, holds: boolean, text: string): void {
    log.warn({ robotId, active: holds }, text);
    alarmRegistry.state({ kind: "robot", robotId }, "FOREIGN_MISSIONS", { holds, text });
  }

  return {
    seen(robotId) {
      const nowMs = clock.monotonicMs();
      const { timesMs, isOn } = robots.get(robotId) ?? { timesMs: [], isOn: false };
      const recent = [...timesMs.filter((timeMs) => nowMs - timeMs < WITHIN_MS), nowMs].slice(-MISSIONS);
      const isMany = recent.length >= MISSIONS;
      robots.set(robotId, { timesMs: recent, isOn: isOn || isMany });
      if (isOn || !isMany) return;
      setCondition(
        robotId,
        true,
        `another client of the fleet service sends missions to ${robotId}: ${MISSIONS} within ${WITHIN_MS / 60_000} minutes that no command of this gateway has made`,
      );
    },
    tick() {
      const nowMs = clock.monotonicMs();
      for (const [robotId, { timesMs, isOn }] of robots) {
        if (nowMs - (timesMs.at(-1) ?? 0) < WITHIN_MS) continue;
        robots.delete(robotId);
        if (isOn)
          setCondition(
            robotId,
            false,
            `no other client has sent a mission to ${robotId} for ${WITHIN_MS / 60_000} minutes`,
          );
      }
    },
    count: () => [...robots.values()].filter(({ isOn }) => isOn).length,
  };
}
