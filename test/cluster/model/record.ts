import {
  BEAT_KEY,
  decode,
  LEADER_KEY,
  type LeaderRecord,
  STOPS,
  type StopRecord,
  stopKey,
  tableKey,
} from "../../../src/cluster/protocol/records.ts";
import { protocolTimes } from "../../../src/cluster/protocol/times.ts";
import { type StoredRecord, startIn } from "../../../src/commands/journal/stored-record.ts";
import type { Outcome } from "../../../src/domain/outcome.ts";
import { parsedJson } from "../../../src/platform/json.ts";
import { isNotYetRecorded } from "../../commands/model-record.ts";
import type { Sending } from "./service-model.ts";
import type { Simulation } from "./simulation.ts";
import type { StoreModel } from "./store-model.ts";

/** Shorter than the product's, so that a run is short; the ratios are the same. */
export const times = protocolTimes({ leaseMs: 3_000, callDeadlineMs: 4_000, evidenceMs: 4_000 });
const DRIFT = 1.25;
const COMMANDS = tableKey("commands", "");
const HOLDS = tableKey("holds", "");
/** A member that stands by writes a hold again within a second of its clock. */
const SHOWN_WITHIN_MS = 1_500;
/** What the plant's user is called in the journal. */
const SOURCE = "opcua:plc/";

const recordKey = (id: string) => `${COMMANDS}${SOURCE}${id}`;

/** A record that says that a start was sent. `over`: what forbids it, so that it must not leave. */
interface Permit {
  readonly revision: number;
  readonly atMs: number;
  readonly over: string | null;
}

/** What really happened, and which of the invariants it has broken. */
export class Truth {
  readonly violations: string[] = [];
  epochs = 0;
  readonly arrivals = new Map<string, number>();
  readonly told = new Map<string, Outcome[]>();
  /** True times of the last stops of a robot that the service got. */
  private readonly stoppedAtMs = new Map<string, number>();
  private readonly lastEpoch = new Map<string, { readonly id: string; readonly epoch: number }>();
  private readonly epochOf = new Map<string, number>();
  private readonly permits = new Map<string, Permit>();
  /** Stops and holds in the store: since when. */
  private readonly forbidden = new Map<string, number>();
  private readonly arrivedAtMs = new Map<string, number>();
  /** When a process first asked the store to take a stop, and when the store took it. */
  private readonly stopTimes = new Map<string, { readonly askedAtMs: number; tookAtMs: number }>();
  private readonly dead = new Set<string>();
  private readonly sim: Simulation;
  /** What happened, for people; null: nobody wants to know. */
  readonly lines: string[] | null;

  constructor(sim: Simulation, isTraced: boolean) {
    this.sim = sim;
    this.lines = isTraced ? [] : null;
  }

  note(line: string): void {
    this.lines?.push(`${(this.sim.nowMs / 1_000).toFixed(3)} s: ${line}`);
  }

  broken(what: string): void {
    this.note(`BROKEN: ${what}`);
    this.violations.push(what);
  }

  died(process: string): void {
    this.note(`${process} dies`);
    this.dead.add(process);
  }

  /** A process asks the store for this stop. */
  stopAsked(value: string): void {
    if (this.stopTimes.has(value)) return;
    this.stopTimes.set(value, { askedAtMs: this.sim.nowMs, tookAtMs: Number.POSITIVE_INFINITY });
  }

  /** Before a put is applied. */
  put(store: StoreModel, writer: string, key: string, value: string | null): void {
    if (key !== BEAT_KEY) this.note(`${writer} puts ${key} ${value}`);
    if (key === LEADER_KEY && value !== null) {
      this.epochs += 1;
      this.epochOf.set(writer, store.revision + 1);
    }
    if (key.startsWith(STOPS)) {
      this.forbidden.set(key, this.sim.nowMs);
      const stop = this.stopTimes.get(value ?? "");
      if (stop !== undefined) stop.tookAtMs = this.sim.nowMs;
    }
    if (key.startsWith(HOLDS)) {
      if (value === null || value === "null") this.forbidden.delete(key);
      else if (!this.forbidden.has(key)) this.forbidden.set(key, this.sim.nowMs);
    }
    if (key.startsWith(COMMANDS) && value !== null && value !== "null")
      this.recorded(store, writer, key, value);
  }

  private recorded(store: StoreModel, writer: string, key: string, value: string): void {
    const leader = store.entries.get(LEADER_KEY);
    if (leader === undefined || decode<LeaderRecord>(leader)?.process !== writer)
      this.broken(`${writer} writes ${key} and does not lead`);
    const before = store.entries.get(key);
    const outcome = (entry: { readonly value: string }) => decode<StoredRecord | null>(entry)?.outcome;
    if (
      before !== undefined &&
      outcome(before) !== undefined &&
      outcome(before)?.outcome !== outcome({ value })?.outcome
    )
      this.broken(`the final record ${key} changes`);
    const start = startIn({ table: "commands", key, value: decode({ value }) });
    if (start?.stage === "sent")
      this.permitted(store, writer, key.slice(recordKey("").length), start.robotId);
  }

  private permitted(store: StoreModel, writer: string, id: string, robotId: string | null): void {
    const isHeld = store
      .read(HOLDS)
      .entries.filter(({ key, value }) => value !== "null" && !this.lifted.has(`${writer} ${key}`))
      .some(({ key }) => robotId === null || concerns(key, robotId));
    const stop = robotId === null ? undefined : store.entries.get(stopKey(robotId));
    const since = this.acceptedAt.get(id) ?? 0;
    const isStopped =
      stop !== undefined && stop.modified > since && decode<StopRecord>(stop)?.process !== writer;
    this.checkHolds(store, robotId === null ? [null] : [robotId, null], `when ${id} is permitted`);
    const over = isHeld ? "while its robot is held" : isStopped ? `over a stop of ${stop.value}` : null;
    this.permits.set(id, { revision: store.revision + 1, atMs: this.sim.nowMs, over });
  }

  /** Holds that a process was asked to lift: it may act before the store has that. */
  private readonly lifted = new Set<string>();

  /** The last request of the plant's user for each hold, at any process. */
  private readonly lastAsked = new Map<string, { process: string; isHeld: boolean; atMs: number }>();

  holdAsked(process: string, robotId: string | null, isHeld: boolean): void {
    this.note(`${process} is asked to ${isHeld ? "hold" : "lift the hold of"} ${robotId ?? "all"}`);
    const hold = holdKey(robotId);
    const key = `${process} ${hold}`;
    if (isHeld) this.lifted.delete(key);
    else this.lifted.add(key);
    this.lastAsked.set(hold, { process, isHeld, atMs: this.sim.nowMs });
  }

  /** What a process shows of the user's hold of this robot, or of all; null: it does not live. */
  shownHold: (process: string, robotId: string | null) => "held" | "stored" | "free" | null = () => null;

  /** A hold that its user has begun last lasts, and is in the store if it is shown as stored. */
  private checkHolds(store: StoreModel, robotIds: ReadonlyArray<string | null>, when: string): void {
    for (const robotId of robotIds) {
      const asked = this.lastAsked.get(holdKey(robotId));
      if (asked?.isHeld !== true || this.sim.nowMs - asked.atMs < SHOWN_WITHIN_MS) continue;
      const shown = this.shownHold(asked.process, robotId);
      const what = `the hold of ${robotId ?? "all"} on ${asked.process}`;
      if (shown === "free") this.broken(`${what} is lost ${when}`);
      if (shown === "stored" && !isPresent(store.entries.get(holdKey(robotId))))
        this.broken(`${what} is shown as stored, and is not, ${when}`);
    }
  }

  /** The revision of the store when each start was given to a leader. */
  private readonly acceptedAt = new Map<string, number>();

  submitted(id: string, store: StoreModel): void {
    if (!store.entries.has(recordKey(id))) this.acceptedAt.set(id, store.revision);
  }

  /** A start leaves a box. */
  left({ id, robotId }: Sending, isHeldHere: boolean): void {
    this.note(`${id} leaves`);
    if (isHeldHere) this.broken(`${id} leaves a box on which its robot is held`);
    const permit = this.permits.get(id);
    if (permit === undefined) this.broken(`${id} leaves without a permission`);
    else if (permit.over !== null) this.broken(`${id} was permitted ${permit.over}, and leaves`);
    for (const [key, sinceMs] of this.forbidden) {
      const isOf =
        robotId !== null && (key === stopKey(robotId) || (key.startsWith(HOLDS) && concerns(key, robotId)));
      if (!isOf || permit === undefined || permit.atMs > sinceMs) continue;
      if (this.sim.nowMs - sinceMs > DRIFT * times.permissionMs)
        this.broken(`${id} leaves long after ${key} was stored`);
    }
  }

  /** A call comes to the service, which takes it. */
  arrived({ operation, id, robotId }: Sending, process: string): void {
    if (operation === "Halt" || operation === "StopBelts") {
      this.note(`a stop of ${robotId} arrives`);
      if (robotId !== null) this.stoppedAtMs.set(robotId, this.sim.nowMs);
      return;
    }
    const epoch = this.epochOf.get(process) ?? 0;
    this.note(`${id} of epoch ${epoch} arrives`);
    const count = (this.arrivals.get(id) ?? 0) + 1;
    this.arrivals.set(id, count);
    this.arrivedAtMs.set(id, this.sim.nowMs);
    if (count > 1) this.broken(`${id} reaches the service ${count} times`);
    const queue = robotId ?? "any";
    const last = this.lastEpoch.get(queue);
    if (last !== undefined && last.epoch > epoch)
      this.broken(`${id} of epoch ${epoch} arrives after ${last.id} of epoch ${last.epoch} (${robotId})`);
    else this.lastEpoch.set(queue, { id, epoch });
  }

  refused({ id }: Sending): void {
    this.note(`${id} is refused by the service`);
  }

  /** True times at which the sender of a command was last told that it had succeeded. */
  private readonly succeededAtMs = new Map<string, number>();

  tell(id: string, told: Outcome): void {
    if (told.outcome === "succeeded") this.succeededAtMs.set(id, this.sim.nowMs);
    this.note(`${id} is told ${told.outcome} ${told.code}`);
    this.told.set(id, [...(this.told.get(id) ?? []), told]);
  }

  /** At the end, when all is well again. */
  check(store: StoreModel, robotIds: readonly string[]): void {
    this.checkHolds(store, [...robotIds, null], "at the end");
    for (const [id, told] of this.told) this.checkTold(store, id, told);
    for (const { key, value } of store.read(COMMANDS).entries) {
      const record = decode<StoredRecord | null>({ value });
      if (record === null || !key.startsWith(recordKey(""))) continue;
      const id = key.slice(recordKey("").length);
      if (record.outcome == null) this.broken(`the record ${key} never ends`);
      else if (this.arrivals.has(id) && neverSent(record.outcome))
        this.broken(`${id} is recorded as ${record.outcome.outcome}, and was sent`);
      this.checkLastWord(store, id, record.command.robotId);
    }
  }

  private checkTold(store: StoreModel, id: string, told: readonly Outcome[]): void {
    const entry = store.entries.get(recordKey(id));
    const final = entry === undefined ? undefined : decode<StoredRecord | null>(entry)?.outcome;
    for (const each of told) {
      if (isNotYetRecorded(each) || each.code === "STANDBY" || id.startsWith("h")) continue;
      if (final?.outcome !== each.outcome || final.code !== each.code)
        this.broken(
          `${id} was told ${each.outcome} ${each.code}, and is recorded as ${final?.outcome} ${final?.code}`,
        );
      if (neverSent(each) && this.arrivals.has(id))
        this.broken(`${id} was told ${each.outcome} ${each.code}, and was sent`);
    }
  }

  /** A stop has the last word over starts that were permitted before the store had it. */
  private checkLastWord(store: StoreModel, id: string, robotId: string | null): void {
    const stop = robotId === null ? undefined : store.entries.get(stopKey(robotId));
    const permit = this.permits.get(id);
    const arrivedAtMs = this.arrivedAtMs.get(id);
    if (robotId === null || stop === undefined || permit === undefined || arrivedAtMs === undefined) return;
    if (permit.revision > stop.modified || (this.stoppedAtMs.get(robotId) ?? -1) > arrivedAtMs) return;
    const { askedAtMs = 0, tookAtMs = 0 } = this.stopTimes.get(stop.value) ?? {};
    const { process = "", requestJson = "{}" } = decode<StopRecord>(stop) ?? {};
    // It was under way already, or the sender of the stop knows that it has failed.
    const stopId = (JSON.parse(requestJson) as { readonly to: string }).to;
    // A sender may ask twice: the first time it succeeded, and the second time it has failed.
    const isDone = (this.succeededAtMs.get(stopId) ?? -1) >= askedAtMs;
    if (arrivedAtMs < askedAtMs || !isDone) return;
    // A process that has given up, or died, sends no second stop for what was over by then.
    const hasGivenUp = this.dead.has(process) || tookAtMs - askedAtMs > times.announceMs / DRIFT;
    if (arrivedAtMs < tookAtMs && hasGivenUp) return;
    this.broken(`${id} arrives after the last stop of ${robotId}, which was stored after its permission`);
  }
}

function neverSent({ outcome, code }: Pick<Outcome, "outcome" | "code">): boolean {
  const refusals = ["JOURNAL_FAILED", "HELD", "CANCELED_BY_STOP", "FLEET_UNREACHABLE", "STANDBY"];
  return outcome === "expired" || (outcome === "refused" && refusals.includes(code));
}

function holdKey(robotId: string | null): string {
  return `${HOLDS}${JSON.stringify([robotId, "opcua", "plc"])}`;
}

/** A key whose value was removed may have a tombstone. */
function isPresent(entry: { readonly value: string } | undefined): boolean {
  return entry !== undefined && entry.value !== "null";
}

/** The key of a hold names its robot, or null for all. */
function concerns(key: string, robotId: string): boolean {
  const parts = parsedJson(key.slice(HOLDS.length));
  return Array.isArray(parts) && (parts[0] === null || parts[0] === robotId);
}
