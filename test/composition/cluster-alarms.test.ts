import { beforeEach, expect, it } from "vitest";
import type { EtcdSight } from "../../src/cluster/store/etcd-health.ts";
import { createClusterAlarms } from "../../src/composition/cluster-alarms.ts";
import type { OtherMember, Takeover } from "../../src/contracts/cluster.ts";
import type { AlarmRegistry } from "../../src/state/alarm-registry.ts";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";
import { emptyAlarmBook } from "../support/test-alarms.ts";

const facts = { version: "1.0.0", configuration: { mqtt: "aa", fleet: "bb" }, handover: null };
const right: OtherMember = { name: "right", hasSession: true, leads: null, facts, clockAheadMs: 0 };

let clock: ManualClock;
let registry: AlarmRegistry;
let isActive: boolean;
let lagMs: number;
let others: readonly OtherMember[];
let takeover: Takeover | null;
let etcd: EtcdSight | null;
let unreadable: string | null;
let look: () => void;

beforeEach(() => {
  clock = createManualClock();
  registry = emptyAlarmBook(clock);
  [isActive, lagMs, others, takeover] = [true, 0, [right], null];
  etcd = { silent: [], hasMajority: true, usedPart: 0.1, isFull: false };
  unreadable = null;
  const view = { member: "left", isActive: () => isActive, lagMs: () => lagMs };
  const alarms = createClusterAlarms(
    {
      ...{ view, silenceMs: 5_000, facts: () => ({ ...facts, unreadable }) },
      ...{ others: () => others, takeover: () => takeover, etcd: () => etcd },
    },
    registry.state,
  );
  look = alarms.look;
});

/** What stands when a look each second has gone on for so long. */
function standing(seconds: number): readonly string[] {
  for (let at = 0; at < seconds; at += 1) {
    look();
    registry.take();
    clock.advance(1_000);
  }
  registry.take();
  return registry
    .all()
    .flatMap(({ code, severity, text, isActive: isOn }) => (isOn ? [`${code} ${severity}: ${text}`] : []));
}

it("finds nothing to say of a whole cluster", () => expect(standing(90)).toEqual([]));

it("says that nobody could take over, and why", () => {
  others = [];
  expect(standing(29)).toEqual([]);
  expect(standing(3)).toEqual(["NO_STANDBY 600: no other member of the cluster is there to take over"]);
  others = [{ ...right, hasSession: false }];
  expect(standing(2)).toEqual([
    "NO_STANDBY 600: right could not take over: it has no session to the fleet service",
  ]);
  others = [right];
  expect(standing(12)).toEqual([]);
});

it("says on each member that there is no majority", () => {
  [isActive, lagMs, others] = [false, Number.POSITIVE_INFINITY, []];
  etcd = { silent: ["a:2379", "b:2379"], hasMajority: false, usedPart: 0, isFull: false };
  expect(standing(4)).toEqual(["QUORUM_LOST 800: etcd gives left no answer of a majority: no start leaves"]);
  lagMs = 5_000;
  // A standby says nothing else.
  expect(standing(90)).toEqual([]);
});

it("does not take a member that still reads the records for one without a majority", () => {
  [isActive, lagMs] = [false, Number.POSITIVE_INFINITY];
  expect(standing(4)).toEqual([]);
});

it("names members of etcd that are away, and tells of its space", () => {
  etcd = { silent: ["vote:2379"], hasMajority: true, usedPart: 0.61, isFull: false };
  expect(standing(12)).toEqual([
    "STORE_SPACE 600: etcd has used more than 60 % of its quota",
    "MEMBER_LOST 500: etcd does not answer at vote:2379",
  ]);
  etcd = { silent: [], hasMajority: true, usedPart: 1, isFull: true };
  expect(standing(12)).toEqual(["STORE_SPACE 800: etcd is full: it takes no write"]);
  // Nobody leads then.
  isActive = false;
  expect(standing(12)).toEqual(["STORE_SPACE 800: etcd is full: it takes no write"]);
  etcd = { silent: [], hasMajority: true, usedPart: 0.7, isFull: false };
  expect(standing(12)).toEqual([]);
});

it.each([
  [{ from: "right", why: "lost" }, ["FAILED_OVER 400: right was lost: left leads since then"]],
  [{ from: "right", why: "cut" }, ["FAILED_OVER 400: right had no fleet service: left leads since then"]],
  [{ from: "right", why: "planned" }, []],
  [{ from: "left", why: "lost" }, []],
] as const)("tells once of a takeover: %j", (given, wanted) => {
  takeover = { ...given, tookMs: 100, note: null };
  expect(standing(3)).toEqual(wanted);
  for (const { id } of registry.all()) registry.acknowledge(id, { protocol: "cli", name: "root" });
  expect(standing(3)).toEqual([]);
});

it("names what two boxes have not alike", () => {
  others = [{ ...right, facts: { ...facts, configuration: { mqtt: "ab", fleet: "bb", rights: "cc" } } }];
  expect(standing(62)).toEqual(["CONFIG_DIFFERS 400: right has another configuration in mqtt, rights"]);
  others = [{ ...right, facts: { ...facts, version: "1.1.0" } }];
  expect(standing(2)).toEqual(["CONFIG_DIFFERS 400: right has version 1.1.0, and this box 1.0.0"]);
  others = [{ ...right, facts: null }];
  expect(standing(62)).toEqual([]);
});

it("says on each member that a fence has failed, until somebody leads", () => {
  isActive = false;
  const fence = { of: "left", problem: null };
  others = [{ ...right, facts: { ...facts, fence } }];
  expect(standing(3)).toEqual([]);
  others = [
    { ...right, facts: { ...facts, fence: { ...fence, problem: "the program cannot be started (ENOENT)" } } },
  ];
  expect(standing(3)).toEqual([
    "FENCE_FAILED 800: right could not fence left: the program cannot be started (ENOENT), so nobody leads",
  ]);
  others = [right];
  expect(standing(3)).toEqual([]);
});

it("names on each member a record that it cannot read", () => {
  isActive = false;
  unreadable = "/fleetgate/a/table/commands/x";
  expect(standing(3)).toEqual([
    "RECORD_UNREADABLE 700: left cannot read the record /fleetgate/a/table/commands/x of etcd: it does not begin to lead",
  ]);
});
