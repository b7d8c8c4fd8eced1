import type { Holds } from "../../contracts/acts.ts";
import type { StateChange } from "../../domain/change.ts";
import type { Source } from "../../domain/command.ts";
import { quoted } from "../../domain/foreign-text.ts";
import { type HoldState, holderName } from "../../domain/hold.ts";
import { type Outcome, refusal } from "../../domain/outcome.ts";
import type { RobotId } from "../../domain/robot.ts";
import { noLaterThan } from "../../platform/clock.ts";
import type { Observations } from "../evidence/evidence.ts";
import { holdKey, type StoredHold } from "../journal/journal.ts";
import type { Shared } from "../parts.ts";
import type { HoldEffects, PublishHold } from "./hold-events.ts";
import { createHoldFollower } from "./hold-follower.ts";
import { createHoldStops, createRobotStops } from "./hold-stops.ts";
import { createHoldRegistry, type HoldRegistry, type HoldStore } from "./hold-store.ts";

interface HoldControlParts extends Pick<Shared, "clock" | "log"> {
  readonly store: HoldStore;
  readonly publish: PublishHold;
  readonly observations: Pick<Observations, "sight" | "robots">;
  readonly effects: HoldEffects;
  /** False: another member of a cluster leads, and may have lifted a hold that is present here. */
  readonly isLeading: () => boolean;
  /** The refusal of a robot that was never seen; null for others. */
  readonly refusedName: (robotId: RobotId) => Outcome | null;
}

/** A user begins or lifts a hold. */
export interface HoldRequest {
  readonly source: Source;
  /** Null: all robots. */
  readonly robotId: RobotId | null;
  /** True begins the source's own hold, false lifts it. */
  readonly isHeld: boolean;
  /** Lifts this user's hold instead. The name is that of `HoldState.by`, without ` (all)`. */
  readonly user?: string | undefined;
}

/** Keeps the holds, and keeps held robots from moving. */
export interface HoldControl extends Holds {
  /**
   * Begins a hold at once, or lifts it; the same again changes nothing, but a member of a cluster writes it
   * again. Null: it is accepted; otherwise the refusal. It does not check rights. A hold that its user
   * lifts again within a second lasts until then (docs/commands.md, A hold that is toggled): `holdState` has
   * the present hold.
   */
  hold(request: HoldRequest): Outcome | null;
  /** `holdState` when what was asked for is on the disk, or the disk has not taken it in time. */
  stateWhenStored(robotId: RobotId | null): Promise<HoldState>;
  /** Another member of the cluster has begun or lifted the hold. The leader sends stops, and publishes it. */
  elsewhere(hold: StoredHold, isHeld: boolean): void;
  /** Takes over the holds of an earlier run. */
  resume(stored: readonly StoredHold[]): void;
  /**
   * The refusal of a start of this robot, or (null) of a start whose robot the service chooses; null: there
   * is no hold.
   */
  refusalFor(robotId: RobotId | null): Outcome | null;
  /** The changes of robots, after the observations have them. */
  observed(changes: readonly StateChange[]): void;
  /** Lifts holds whose users lift too often to be served at once. Call it about once a second. */
  tick(): void;
  /** Lifts the holds that wait for it. Resolves when no write is under way: before the journal is closed. */
  settled(): Promise<void>;
  figures(): Readonly<Record<string, number>>;
}

/** An answer waits so long for the disk. */
const STORED_WITHIN_MS = 1_000;
/** A user may hold robots that were never seen: invented names must not fill the store. */
const MOST_HOLDS = 20_000;

export function createHoldControl(parts: HoldControlParts): HoldControl {
  const { clock, log, store, publish, observations, effects, isLeading } = parts;
  const registry = createHoldRegistry();
  const stops = createHoldStops({
    clock,
    sight: observations.sight,
    send(robotId, stop) {
      const [owner] = [...registry.owners(robotId), ...registry.owners(null)];
      return effects.sendStop(robotId, stop, owner ?? { protocol: "gateway", name: "fleetgate" });
    },
  });
  const budget = createLiftBudget();
  /** Holds to be lifted when the budget allows it, and the user that lifts each. */
  const lateLifts = new Map<StoredHold, Source>();
  const robotsOf = (robotId: RobotId | null) => (robotId === null ? observations.robots() : [robotId]);

  const holdState = (robotId: RobotId | null) => stateOf(registry, store, robotId);
  const robotStops = createRobotStops({ stops, registry, robotsOf });

  function begin(robotId: RobotId | null, owner: Source): void {
    const hold: StoredHold = { robotId, owner, sinceMs: clock.nowMs() };
    registry.add(hold);
    // Robots are stopped before the hold is on the disk.
    effects.refuseStarts(robotId);
    robotStops.begin(hold);
    store.remember(hold, true);
    publish("held", hold, owner);
  }

  /** Lifts the hold now, or at a later tick if its user lifts too often; until then it lasts. */
  function askLift(hold: StoredHold, by: Source): void {
    if (budget.take(holdKey(hold), holderName(by), robotsOf(hold.robotId).length)) lift(hold, by);
    else if (!lateLifts.has(hold)) lateLifts.set(hold, by);
  }

  function lift(hold: StoredHold, by: Source): void {
    lateLifts.delete(hold);
    registry.remove(hold);
    robotStops.end(hold);
    store.remember(hold, false);
    publish("free", hold, by);
  }

  /**
   * The leader may have lifted the hold, and this member does not know it yet. One that led a moment ago, and
   * is cut off now, still takes itself for the leader.
   */
  function writeAgain(hold: StoredHold): void {
    if (store.writeAgain !== null) registry.add(hold);
    if (store.writeAgain?.(hold) === true) effects.changed(hold.robotId);
  }

  return {
    elsewhere: createHoldFollower({ store, registry, lateLifts, robotStops, effects, publish, isLeading }),
    resume(stored) {
      for (const hold of stored)
        if (registry.find(hold.robotId, holderName(hold.owner)) === undefined) registry.add(hold);
      if (stored.length > 0) log.info({ holds: stored.length }, "holds of an earlier run go on");
    },
    hold(request) {
      const decision = decideHold(registry, request);
      switch (decision.kind) {
        case "refuse":
          return decision.outcome;
        case "begin":
          begin(request.robotId, request.source);
          break;
        case "lift":
          askLift(decision.hold, request.source);
          break;
        case "keep":
          // The last request of its user counts, also after an engineer's, as if it had been lifted and held
          // again.
          lateLifts.delete(decision.hold);
          writeAgain({ ...decision.hold, againMs: clock.nowMs() });
          break;
      }
      return null;
    },
    refusedName(robotId) {
      const refused = parts.refusedName(robotId);
      return refused?.code === "UNKNOWN_ROBOT" ? refused : null;
    },
    holdState,
    async stateWhenStored(robotId) {
      await noLaterThan(clock, STORED_WITHIN_MS, store.settled(), null);
      return holdState(robotId);
    },
    all: registry.all,
    refusalFor: registry.refusalFor,
    observed(changes) {
      if (registry.size === 0) return;
      const robots = new Set(changes.flatMap((change) => ("robotId" in change ? [change.robotId] : [])));
      for (const robotId of robots) if (registry.isHeld(robotId)) stops.look(robotId);
    },
    tick() {
      budget.tick();
      for (const [hold, by] of [...lateLifts])
        if (budget.take(holdKey(hold), holderName(by), robotsOf(hold.robotId).length)) lift(hold, by);
      store.tick();
      stops.tick();
    },
    settled() {
      for (const [hold, by] of [...lateLifts]) lift(hold, by);
      return store.settled();
    },
    figures: () => ({
      ...registry.figures(),
      holdsNotStored: store.unstored(),
      holdsToBeLifted: lateLifts.size,
    }),
  };
}

function stateOf(registry: HoldRegistry, store: HoldStore, robotId: RobotId | null): HoldState {
  const ofAll = robotId === null ? [] : registry.names(null).map((name) => `${name} (all)`);
  const by = [...registry.names(robotId), ...ofAll];
  const isStored = store.isStored(robotId) && store.isStored(null);
  return { isHeld: by.length > 0, by, isStored };
}

/** What a request to hold or to lift a hold leads to. */
type HoldDecision =
  | { readonly kind: "begin" }
  | { readonly kind: "lift"; readonly hold: StoredHold }
  /** It is held already. */
  | { readonly kind: "keep"; readonly hold: StoredHold }
  /** It was not held. */
  | { readonly kind: "nothing" }
  | { readonly kind: "refuse"; readonly outcome: Outcome };

function decideHold(registry: HoldRegistry, { source, robotId, user, isHeld }: HoldRequest): HoldDecision {
  if (user !== undefined) return decideOthers(registry, robotId, user);
  const own = registry.find(robotId, holderName(source));
  if (!isHeld) return own === undefined ? { kind: "nothing" } : { kind: "lift", hold: own };
  if (own !== undefined) return { kind: "keep", hold: own };
  if (registry.size < MOST_HOLDS) return { kind: "begin" };
  return { kind: "refuse", outcome: refusal("QUEUE_FULL", `there are already ${MOST_HOLDS} holds`) };
}

/** An engineer lifts the hold of another user. */
function decideOthers(registry: HoldRegistry, robotId: RobotId | null, user: string): HoldDecision {
  const hold = registry.find(robotId, user);
  if (hold !== undefined) return { kind: "lift", hold };
  const what = robotId === null ? "all robots" : `robot ${quoted(robotId)}`;
  const message = `user: ${quoted(user)} does not hold ${what}; name one as \`by\` shows it`;
  return { kind: "refuse", outcome: refusal("MALFORMED", message) };
}

/**
 * Bounds how often holds are lifted. A hold always begins at once, because it is a stop, and each begin may
 * send calls to the robot. A user that cannot lift a hold cannot begin it again either, so this bounds both.
 */
export interface LiftBudget {
  /** Whether this user may lift this hold on so many robots now; if so, it is counted. */
  take(hold: string, user: string, robots: number): boolean;
  /** About a second has passed. */
  tick(): void;
}

/** Far above what a plant does, far below what would delay another user's stop. */
const ROBOTS_A_TICK = 100;
/** A hold on all robots can be lifted again after five seconds, however many robots there are. */
const MOST_COUNTED = 500;

/** In one tick, each hold can be lifted once, and each user can lift holds of so many robots. */
function createLiftBudget(): LiftBudget {
  const lifted = new Set<string>();
  /** By user: robots that count in this tick, with those left over from earlier ticks. */
  const spent = new Map<string, number>();
  return {
    take(hold, user, robots) {
      const before = spent.get(user) ?? 0;
      if (lifted.has(hold) || before >= ROBOTS_A_TICK) return false;
      lifted.add(hold);
      spent.set(user, before + Math.min(robots, MOST_COUNTED));
      return true;
    },
    tick() {
      lifted.clear();
      for (const [user, robots] of spent) {
        if (robots <= ROBOTS_A_TICK) spent.delete(user);
        else spent.set(user, robots - ROBOTS_A_TICK);
      }
    },
  };
}
