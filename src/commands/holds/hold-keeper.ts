import type { HoldRequest, Holds } from "../../contracts/holds.ts";
import type { FleetNotice, StateChange } from "../../domain/change.ts";
import { quoted } from "../../domain/clip.ts";
import type { Source } from "../../domain/command.ts";
import { holderName } from "../../domain/hold.ts";
import { type Outcome, refusal } from "../../domain/outcome.ts";
import type { RobotId } from "../../domain/robot.ts";
import type { Stop } from "../../domain/stops.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { AuditSink } from "../audit/audit.ts";
import type { Observations } from "../evidence/observations.ts";
import type { Journal, StoredHold } from "../journal/journal.ts";
import { type Rights, refusedRight } from "../rights.ts";
import { createHoldMemory } from "./hold-memory.ts";
import { createHoldStops } from "./hold-stops.ts";

export interface HoldKeeperParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly audit: AuditSink;
  readonly journal: Pick<Journal, "writeHold">;
  readonly observations: Pick<Observations, "sight" | "robots">;
  /** Names this run of the gateway; event ids are unique within it. */
  readonly sessionId: string;
  /** Where the begin and the end of every hold go as events. Synchronous; never throws. */
  readonly notify: (notice: FleetNotice) => void;
  /** What holds this robot, or (null) all robots, is another than before. Synchronous; never throws. */
  readonly onHold: (robotId: RobotId | null) => void;
  /** A hold has begun: starts of the robot, or (null) of all, that have not left are to be refused. */
  readonly refuseStarts: (robotId: RobotId | null) => void;
  /** Sends a stop for the owner of a hold. Never rejects. */
  readonly sendStop: (robotId: RobotId, stop: Stop, owner: Source) => Promise<Outcome>;
  readonly rights: Rights;
  /** The refusal of a robot that was never heard of; null for others. */
  readonly refusedName: (robotId: RobotId) => Outcome | null;
  /** The gateway stops: nothing can be stopped any more. */
  readonly isStopping: () => boolean;
}

/** Keeps the holds, and keeps held robots from moving. */
export interface HoldKeeper extends Holds {
  /** Takes up the holds of the run before this one. */
  resume(stored: readonly StoredHold[]): void;
  /** The refusal of a start of this robot, or (null) of one that the service picks; null when nothing holds it. */
  refusalFor(robotId: RobotId | null): Outcome | null;
  /** What robots send, after it was taken into the observations. */
  observed(changes: readonly StateChange[]): void;
  tick(): void;
  /** Resolves when nothing is being written any more: before the journal is closed. */
  settled(): Promise<void>;
  figures(): Readonly<Record<string, number>>;
}

/** By user, the longest first. */
type Holders = Map<string, StoredHold>;

/** A user may name robots that nobody has heard of yet: names that are made up must not fill the memory. */
const MOST_HOLDS = 20_000;

export function createHoldKeeper(parts: HoldKeeperParts): HoldKeeper {
  const { clock, log, audit, observations } = parts;
  /** By robot; null: of all robots. */
  const held = new Map<RobotId | null, Holders>();
  const memory = createHoldMemory(parts.journal, clock, log, (robotId) => parts.onHold(robotId));
  const stops = createHoldStops({
    clock,
    sight: observations.sight,
    send(robotId, stop) {
      const [owner] = [...ownersOf(robotId), ...ownersOf(null)];
      return parts.sendStop(robotId, stop, owner ?? { door: "gateway", name: "fleetgate" });
    },
  });
  let count = 0;
  let events = 0;

  function ownersOf(robotId: RobotId | null): readonly Source[] {
    return Array.from(held.get(robotId)?.values() ?? [], ({ owner }) => owner);
  }

  function isHeld(robotId: RobotId): boolean {
    return held.has(robotId) || held.has(null);
  }

  function add(hold: StoredHold): void {
    const holders: Holders = held.get(hold.robotId) ?? new Map();
    held.set(hold.robotId, holders.set(holderName(hold.owner), hold));
    count += 1;
  }

  function begin(robotId: RobotId | null, owner: Source): void {
    const hold: StoredHold = { robotId, owner, sinceMs: clock.nowMs() };
    add(hold);
    // Acts first: the disk comes after.
    parts.refuseStarts(robotId);
    for (const each of robotId === null ? observations.robots() : [robotId]) stops.begin(each);
    memory.remember(hold, true);
    tell("held", hold, owner);
  }

  function lift(hold: StoredHold, by: Source): void {
    const { robotId, owner } = hold;
    const holders = held.get(robotId);
    if (holders?.delete(holderName(owner))) count -= 1;
    if (holders?.size === 0) held.delete(robotId);
    for (const each of robotId === null ? observations.robots() : [robotId])
      if (!isHeld(each)) stops.end(each);
    memory.remember(hold, false);
    tell("free", hold, by);
  }

  function tell(to: "held" | "free", { robotId, owner }: StoredHold, by: Source): void {
    const what = to === "held" ? "begun" : "lifted";
    const atMs = clock.nowMs();
    log.info({ robotId, owner: holderName(owner), by: holderName(by) }, `hold ${what}`);
    audit({
      at: new Date(atMs).toISOString(),
      event: "hold",
      hold: what,
      robot_id: robotId,
      door: by.door,
      user: by.name,
      owner: { door: owner.door, user: owner.name },
    });
    events += 1;
    const eventId = `${parts.sessionId}.h${events}`;
    parts.notify({ kind: "hold", eventId, robotId: robotId ?? "", atMs, owner, to, by });
    parts.onHold(robotId);
  }

  function holdOwn({ source, robotId, isHeld: isToHold }: HoldRequest): Outcome | null {
    // All robots (null) need a rule that names no robots: an operator of every one.
    const refused = refusedRight(parts.rights, { source, operation: null, role: "operator", robotId });
    if (refused !== null) return refusal("NOT_ALLOWED", refused);
    const own = held.get(robotId)?.get(holderName(source));
    if (!isToHold) {
      if (own !== undefined) lift(own, source);
      return null;
    }
    if (own !== undefined) return null;
    if (count >= MOST_HOLDS) return refusal("QUEUE_FULL", `there are already ${MOST_HOLDS} holds`);
    begin(robotId, source);
    return null;
  }

  function liftOthers({ source, robotId }: HoldRequest, user: string): Outcome | null {
    const asked = { source, operation: "the end of another's hold", role: "engineer", robotId } as const;
    const refused = refusedRight(parts.rights, asked);
    if (refused !== null) return refusal("NOT_ALLOWED", refused);
    const hold = held.get(robotId)?.get(user);
    if (hold === undefined) {
      const what = robotId === null ? "all robots" : `robot ${quoted(robotId)}`;
      return refusal("MALFORMED", `user: ${quoted(user)} does not hold ${what}; name one as \`by\` shows it`);
    }
    lift(hold, source);
    return null;
  }

  return {
    resume(stored) {
      for (const hold of stored) add(hold);
      if (stored.length > 0) log.info({ holds: stored.length }, "holds of an earlier run go on");
    },
    hold(request) {
      if (parts.isStopping())
        return refusal("SHUTTING_DOWN", "the gateway is shutting down; nothing is changed");
      return request.user === undefined ? holdOwn(request) : liftOthers(request, request.user);
    },
    refusedName(robotId) {
      const refused = parts.refusedName(robotId);
      return refused?.code === "UNKNOWN_ROBOT" ? refused : null;
    },
    holdState(robotId) {
      const own = [...(held.get(robotId)?.keys() ?? [])];
      const ofAll =
        robotId === null ? [] : Array.from(held.get(null)?.keys() ?? [], (name) => `${name} (all)`);
      const by = [...own, ...ofAll];
      const isStored = memory.isStored(robotId) && memory.isStored(null);
      return { isHeld: by.length > 0, by, isStored };
    },
    refusalFor(robotId) {
      const one = robotId ?? [...held.keys()].find((each) => each !== null) ?? null;
      const [owner] = [...ownersOf(null), ...(one === null ? [] : ownersOf(one))];
      if (owner === undefined) return null;
      const by = holderName(owner);
      if (held.has(null)) return refusal("HELD", `${by} holds all robots`);
      const message = `${by} holds robot ${one}`;
      return refusal(
        "HELD",
        robotId === null ? `the service picks the robot, and ${message}: name one` : message,
      );
    },
    observed(changes) {
      if (held.size === 0) return;
      const robots = new Set(changes.flatMap((change) => ("robotId" in change ? [change.robotId] : [])));
      for (const robotId of robots) if (isHeld(robotId)) stops.look(robotId);
    },
    tick() {
      memory.tick();
      stops.tick();
    },
    settled: memory.settled,
    figures: () => ({
      holds: count,
      robotsHeld: [...held.keys()].filter((robotId) => robotId !== null).length,
      allRobotsHeld: held.has(null) ? 1 : 0,
      holdsNotStored: memory.unstored(),
    }),
  };
}
