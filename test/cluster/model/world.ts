import type { ClusterStore, StoreEntry } from "../../../src/cluster/protocol/cluster-store.ts";
import { createMember, type Member } from "../../../src/cluster/protocol/member.ts";
import type { DiskMirror } from "../../../src/cluster/protocol/mirror.ts";
import { BEAT_KEY, decode, STOPS, tableKey } from "../../../src/cluster/protocol/records.ts";
import type { ProtocolTimes } from "../../../src/cluster/protocol/times.ts";
import { createDispatcher, type Dispatcher } from "../../../src/commands/dispatcher.ts";
import type { Intake } from "../../../src/commands/intake/intake.ts";
import { createMemberJournal } from "../../../src/commands/journal/member-journal.ts";
import {
  canReadRecord,
  holdIn,
  type StoredRecord,
  startIn,
} from "../../../src/commands/journal/stored-record.ts";
import { dispatcherDefaults, type Rights } from "../../../src/commands/options.ts";
import type { SharedCommands } from "../../../src/contracts/cluster.ts";
import type { Catalogue, Operation } from "../../../src/contracts/operation.ts";
import type { Mission } from "../../../src/domain/mission.ts";
import { createLive } from "../../../src/platform/live.ts";
import { silentLog } from "../../../src/platform/log.ts";
import { mission, missions, plc } from "../../commands/commands-harness.ts";
import { testCatalogue, testStopRequest } from "../../commands/operations.ts";
import { createTestIntake, envelopeOf } from "../../support/intake-harness.ts";
import { emptyAlarmBook } from "../../support/test-alarms.ts";
import { noDisk } from "../no-disk.ts";
import { Truth, times } from "./record.ts";
import { createServiceLink, type Sending } from "./service-model.ts";
import { Box, createRandom, type Random, Simulation } from "./simulation.ts";
import { createStoreLink, type Faults } from "./store-link.ts";
import { StoreModel } from "./store-model.ts";

/** What the members of a run are made of: a planted defect changes it. */
export interface Parts {
  readonly times: ProtocolTimes;
  readonly store: (store: ClusterStore) => ClusterStore;
  readonly shared: (member: SharedCommands) => SharedCommands;
  /** Processes stop between their look at the clock and their system call. It is outside the promise. */
  readonly stopsInTurn: boolean;
}

export const soundParts: Parts = {
  times,
  store: (store) => store,
  shared: (member) => member,
  stopsInTurn: false,
};

export const robots = ["r1", "r2"];
const MEMBERS = 2;
const LIMITS = { keepMs: 7 * 86_400_000, keepCount: 1_000 };
const rights: Rights = { rules: [{ source: plc, role: "engineer" }], accounts: [] };

/** What a test sends. */
export interface Order {
  readonly id: string;
  readonly operation: string;
  readonly robotId: string | null;
}

interface Process {
  readonly name: string;
  readonly box: Box;
  readonly member: Member;
  readonly dispatcher: Dispatcher;
  readonly intake: Intake;
}

/** One machine: its processes follow each other. */
export interface Machine {
  readonly rate: number;
  process: Process | null;
  storeCutUntilMs: number;
  serviceCutUntilMs: number;
  lives: number;
  /** What its processes have of the store. */
  readonly disk: Map<string, StoreEntry>;
}

/** Two boxes with the real dispatcher on each, the store and the service. */
export class World {
  readonly sim = new Simulation();
  readonly random: Random;
  readonly truth: Truth;
  readonly store: StoreModel;
  readonly machines: readonly Machine[];
  readonly orders: Order[] = [];
  readonly lists = new Map<string, Mission[]>(robots.map((robotId) => [robotId, []]));
  faults: Faults & { readonly faulty: number };
  private readonly parts: Parts;

  constructor(parts: Parts, seed: number, isTraced = false) {
    this.parts = parts;
    this.truth = new Truth(this.sim, isTraced);
    this.random = createRandom(seed);
    const { random } = this;
    this.store = new StoreModel(this.sim, (writer, key, value) =>
      this.truth.put(this.store, writer, key, value),
    );
    const level = random.next();
    this.faults = {
      lossy: random.chance(0.2) ? 0 : level * 0.25,
      latestMs: random.between(1_000, 10_000),
      watchLagMs: random.chance(0.5) ? 5 : random.between(0, 3_000),
      faulty: random.chance(0.2) ? 0 : random.next() * 0.7,
    };
    this.machines = Array.from({ length: MEMBERS }, () => ({
      rate: random.between(0.9, 1.1),
      process: null,
      storeCutUntilMs: 0,
      serviceCutUntilMs: 0,
      lives: 0,
      disk: new Map(),
    }));
    this.truth.shownHold = (process, robotId) => this.shownHold(process, robotId);
    for (const index of this.machines.keys()) this.boot(index);
  }

  private shownHold(name: string, robotId: string | null) {
    const found = this.machines.find(({ process }) => process?.name === name)?.process;
    if (!found) return null;
    const { by, isStored } = found.dispatcher.holds.holdState(robotId);
    if (!by.includes("opcua:plc")) return "free";
    return isStored ? "stored" : "held";
  }

  boot(index: number): void {
    const machine = this.machines[index];
    if (machine === undefined || machine.process !== null) return;
    machine.lives += 1;
    const name = `${index}.${machine.lives}`;
    const box = new Box(this.sim, machine.rate);
    const process = this.createProcess(index, machine, name, box);
    machine.process = process;
    box.enter(() => {
      process.dispatcher.standBy();
      process.dispatcher.fleetLink(true);
      for (const robotId of robots) this.show(process, robotId);
      process.member.start();
    });
  }

  /** The process dies, and systemd starts another one. */
  kill(index: number, restartMs: number): void {
    const machine = this.machines[index];
    if (machine === undefined || machine.process === null) return;
    machine.process.box.isDead = true;
    this.truth.died(machine.process.name);
    machine.process = null;
    this.sim.after(restartMs, () => this.boot(index));
  }

  submit(index: number, order: Order, expiresInMs: number): void {
    this.at(index, ({ box, intake, member }) => {
      const { id, operation, robotId } = order;
      if (member.isLeading()) this.truth.submitted(id, this.store);
      const nowMs = box.clock.nowMs();
      const requestJson = JSON.stringify(robotId === null ? { to: id } : { robot: robotId, to: id });
      const startByMs = nowMs + expiresInMs;
      const envelope = envelopeOf({ source: plc, requestId: id, operation, requestJson, startByMs }, nowMs);
      void intake.submit(envelope, null).then((outcome) => {
        if (!box.isDead) this.truth.tell(id, outcome);
      });
    });
  }

  hold(index: number, robotId: string | null, isHeld: boolean): void {
    this.at(index, ({ name, dispatcher }) => {
      if (dispatcher.refusesActs(isHeld) !== null) return;
      this.truth.holdAsked(name, robotId, isHeld);
      dispatcher.holds.hold({ source: plc, robotId, isHeld });
    });
  }

  /** Runs a task of the process of a machine, when it has one. */
  at(index: number, task: (process: Process) => void): void {
    const process = this.machines[index]?.process ?? null;
    process?.box.enter(() => task(process));
  }

  /** Nothing fails from now on. */
  heal(): void {
    this.faults = { lossy: 0, latestMs: 0, watchLagMs: 5, faulty: 0 };
    for (const machine of this.machines) {
      machine.storeCutUntilMs = 0;
      machine.serviceCutUntilMs = 0;
    }
  }

  /** What has happened in the run: the outcomes that were told, and takeovers. */
  seen(): readonly string[] {
    const told = [...this.truth.told.values()].flat().map(({ outcome }) => outcome);
    return this.truth.epochs > 1 ? [...new Set(told), "takeover"] : [...new Set(told)];
  }

  isSettled(): boolean {
    const records = this.store.read(tableKey("commands", "")).entries;
    return records.every((entry) => {
      const record = decode<StoredRecord | null>(entry);
      return record === null || record.outcome !== undefined;
    });
  }

  /** A message of the mission stream of a robot. */
  private show({ box, dispatcher }: Process, robotId: string): void {
    const list = this.lists.get(robotId) ?? [];
    const change = missions(robotId, box.clock.nowMs(), ...list);
    dispatcher.stage.apply({ changes: [change], events: [] }, () => {});
  }

  private made({ operation, id, robotId }: Sending): void {
    if (operation !== "Go" || robotId === null) return;
    this.lists.get(robotId)?.push(mission(`m-${id}`, id));
    for (const machine of this.machines) {
      if (this.random.chance(0.3)) continue;
      this.sim.after(this.random.between(5, 2_000), () => {
        const { process } = machine;
        process?.box.enter(() => this.show(process, robotId));
      });
    }
  }

  private createProcess(index: number, machine: Machine, name: string, box: Box): Process {
    const { sim, random, truth, store, parts } = this;
    const link = createStoreLink({
      ...{ sim, random, store, box, process: name },
      faults: () => this.faults,
      cutUntilMs: () => machine.storeCutUntilMs,
    });
    const port = createServiceLink({
      ...{ sim, random, truth, box, process: name, stopsInTurn: parts.stopsInTurn },
      faulty: () => this.faults.faulty,
      cutUntilMs: () => machine.serviceCutUntilMs,
      isHeldHere: (robotId) => dispatcher.holds.refusalFor(robotId) !== null,
      made: (sending) => this.made(sending),
    });
    const { clock } = box;
    const member: Member = createMember({
      store: parts.store(this.noting(link)),
      ...{ clock, times: parts.times, records: { readStart: startIn, canRead: canReadRecord } },
      identity: { member: `m${index}`, process: name },
      disk: diskOf(machine, sim, box),
      leading: {
        hasSession: () => this.sim.nowMs >= machine.serviceCutUntilMs,
        isPublished: () => true,
        async takeOver(tables, time) {
          await journal.lead(tables, LIMITS, time);
          await dispatcher.start();
        },
        lost: () => this.kill(index, random.between(100, 1_000)),
      },
      others: {
        stop: (stop) => dispatcher.elsewhere.stop(stop),
        table(change) {
          const hold = holdIn(change);
          if (hold !== null) dispatcher.elsewhere.hold(hold.hold, hold.isHeld);
        },
        published() {},
        repeat: (stop) => dispatcher.elsewhere.repeat(stop),
      },
    });
    const journal = createMemberJournal(member.tables);
    member.onTable(journal.changed);
    const dispatcher: Dispatcher = createDispatcher({
      config: {
        options: { ...dispatcherDefaults, ...serviceTimes, maxRunMs: null },
        rights: createLive(rights),
        stations: createLive([]),
        shared: parts.shared(member),
      },
      fleet: {
        ...{ catalogue, port, stopRequest: testStopRequest },
        robot: (robotId) => ({ robotId, family: "cart", quality: "good" }),
      },
      journal,
      earlierRuns: {},
      outputs: { deliver() {}, alarmRegistry: emptyAlarmBook(clock), audit() {} },
      ...{ clock, log: silentLog, sessionId: name },
    });
    const intake = createTestIntake({ catalogue, clock, execution: dispatcher });
    return { name, box, member, dispatcher, intake };
  }

  private noting(link: ClusterStore): ClusterStore {
    return {
      ...link,
      commit: (transaction) => {
        for (const { puts } of transaction.parts)
          for (const { key, value } of puts)
            if (key !== BEAT_KEY && key.startsWith(STOPS)) this.truth.stopAsked(value ?? "");
        return link.commit(transaction);
      },
    };
  }
}

/** What a process has heard in its last second is lost with it. */
function diskOf({ disk }: Machine, sim: Simulation, box: Box): DiskMirror {
  return {
    ...noDisk,
    take: () => [...disk.values()],
    keep: (changes) =>
      void sim.after(1_000, () => {
        if (box.isDead) return;
        for (const [key, entry] of changes) {
          if (entry === null) disk.delete(key);
          else disk.set(key, entry);
        }
      }),
  };
}

const { callDeadlineMs, evidenceMs } = times;
const serviceTimes = { callDeadlineMs, evidenceMs, pollMs: 500, settleMs: 200 };

/** The service picks the robot. */
const goAny: Operation = {
  name: "GoAny",
  role: "operator",
  parse(json) {
    const parsed = testCatalogue.get("Skip")?.parse(json);
    if (parsed?.ok !== true) throw new Error("Skip takes every object");
    const { request } = parsed;
    return { ok: true, request: { ...request, robotId: null, subject: { kind: "fleet" } } };
  },
};
const catalogue: Catalogue = new Map([...testCatalogue, ["GoAny", goAny]]);
