import { beforeEach, describe, expect, it } from "vitest";
import type { AuditRecord } from "../../src/commands/audit/audit.ts";
import { createHandovers, reportOf } from "../../src/composition/handover.ts";
import type { HandoverControl, HandoverReport, OtherMember, Takeover } from "../../src/contracts/cluster.ts";
import { silentLog } from "../../src/platform/log.ts";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";
import { createTestCluster, type TestCluster } from "../support/test-cluster.ts";

const source = { protocol: "cli", name: "root" } as const;
const left: OtherMember = { name: "left", hasSession: true, leads: null, facts: null, clockAheadMs: 0 };

let clock: ManualClock;
let view: TestCluster;
let others: readonly OtherMember[];
let turning: number;
let inDoubt: number;
let own: HandoverReport | null;
/** What was done, in its order. */
let done: string[];
let notes: unknown[];
let audited: AuditRecord[];
let control: HandoverControl;

beforeEach(() => {
  clock = createManualClock();
  view = createTestCluster("right");
  view.change({ isActive: true, epoch: 4, leader: "right" });
  [others, turning, inDoubt, own, done, notes, audited] = [[left], 0, 0, null, [], [], []];
  control = createHandovers(
    {
      ...{ view, clock, log: silentLog, others: () => others },
      signal: new AbortController().signal,
      audit: (record) => audited.push(record),
      settled: async () => void done.push("kept for all"),
      standAside: (isAside) => done.push(isAside ? "aside" : "back"),
      async resign(note) {
        done.push("resigned");
        notes.push(note);
        // The process has ended then.
        await new Promise(() => {});
      },
      steps: {
        turning: () => turning,
        stopConveyors: () => done.push("stops conveyors"),
        async settle(deadlineMs) {
          done.push(`settled within ${deadlineMs} ms`);
          return { notSent: 3, underWay: 1 };
        },
        robotsInDoubt: () => inDoubt,
      },
    },
    () => own,
  );
});

const begin = (to: string | null = null, isDrill = false) => control.begin({ source, to, isDrill });
const handedOver = ["kept for all", "aside", "settled within 500 ms", "resigned"];

describe("a handover", () => {
  it("stands aside, lets the service answer, and resigns, with a line in the audit log", async () => {
    expect(begin()).toMatchObject({ ok: true, from: "right", to: "left" });
    await clock.settle(200);
    expect(done).toEqual(handedOver);
    expect(notes).toMatchObject([
      { by: "cli:root", backTo: null, legs: [], left: { commands_not_sent: 3, commands_under_way: 1 } },
    ]);
    expect(audited).toMatchObject([
      { event: "handover", user: "root", operation: "handover", to: "left", outcome: "succeeded" },
    ]);
    expect(begin()).toMatchObject({ ok: false, reason: expect.stringMatching(/^a handover goes on/) });
  });

  it("waits until no conveyor turns", async () => {
    turning = 1;
    begin();
    await clock.settle(29_000);
    expect(done).toEqual([]);
    expect(control.state().step).toBe("waits until no conveyor turns");
    turning = 0;
    await clock.settle(500);
    expect(done).toEqual(handedOver);
  });

  it("stops them after 30 s, and goes on when they stand, or 3 s later", async () => {
    turning = 2;
    begin();
    await clock.settle(30_200);
    expect(done).toEqual(["stops conveyors"]);
    await clock.settle(3_300);
    expect(done).toEqual(["stops conveyors", ...handedOver]);
    expect(notes).toMatchObject([{ left: { conveyors_stopped: 2 } }]);
  });

  it("is given up if nobody can take over any more: this member leads as before", async () => {
    turning = 1;
    begin();
    others = [];
    turning = 0;
    await clock.settle(500);
    expect(done).toEqual([]);
    expect(control.state()).toMatchObject({
      step: null,
      problem:
        "left has not said for some seconds that it stands by: start its gateway, or try again if it runs",
    });
  });

  it.each([
    ["middle", () => {}, "there is no member middle: the members are left and right"],
    ["right", () => {}, "right leads already"],
    [null, () => view.change({ isActive: false, leader: "left" }), "left leads: run it there"],
    [null, () => view.change({ isActive: false, leader: null }), "nobody leads at this moment"],
    [
      null,
      () => view.change({ isActive: false }),
      "right has no proof that it leads: look whether etcd has a majority",
    ],
    [
      null,
      () => {
        others = [{ ...left, hasSession: false }];
      },
      "left could not lead: it has no session to the fleet service",
    ],
  ])("to %s is refused: %#", (to, prepare, reason) => {
    prepare();
    expect(begin(to)).toEqual({ ok: false, reason });
    expect(audited).toMatchObject([{ event: "handover", outcome: "refused", message: reason }]);
  });
});

describe("a drill", () => {
  const leg = {
    ...{ from: "left", to: "right", at: "2026-01-01T00:00:00.000Z", waited_ms: 0, conveyors_stopped: 0 },
    ...{ refused_ms: 100, commands_not_sent: 0, commands_under_way: 0, robots_in_doubt: 0 },
  };
  const half = { id: "d1", by: "cli:root", drill: true, legs: [leg] };

  it("hands back after 10 s, when the other one stands by and no robot is in doubt", async () => {
    [own, others, inDoubt] = [half, [], 1];
    await clock.settle(12_000);
    others = [left];
    await clock.settle(1_000);
    expect(done).toEqual([]);
    inDoubt = 0;
    await clock.settle(500);
    expect(done).toEqual(handedOver);
    expect(notes).toMatchObject([{ id: "d1", by: "cli:root", backTo: null, legs: [leg] }]);
  });

  it("is over when it has handed back, and after a handover that is none", async () => {
    own = { ...half, legs: [leg, { ...leg, from: "right", to: "left" }] };
    await clock.settle(20_000);
    own = { ...half, drill: false };
    await clock.settle(20_000);
    expect(done).toEqual([]);
  });

  it("ends when the other one does not come back", async () => {
    [own, others] = [half, []];
    await clock.settle(301_000);
    others = [left];
    await clock.settle(1_000);
    expect(done).toEqual([]);
    expect(control.state().problem).toBe("left has not come back to lead");
  });
});

describe("the report of a takeover", () => {
  const note = {
    ...{ id: "d1", by: "cli:root", backTo: "left", legs: [] },
    left: {
      waited_ms: 1,
      conveyors_stopped: 0,
      refused_ms: 100,
      commands_not_sent: 2,
      commands_under_way: 1,
    },
  };
  const takeover: Takeover = { from: "left", why: "planned", tookMs: 50.4, note };

  it("counts the time from the first refusal to the new leader", () => {
    expect(reportOf(takeover, "right", 1, 0)).toMatchObject({
      drill: true,
      legs: [{ from: "left", to: "right", refused_ms: 150, robots_in_doubt: 1 }],
    });
  });

  it.each([null, { ...takeover, note: null }, { ...takeover, why: "lost" as const }])(
    "is none of another takeover: %#",
    (given) => expect(reportOf(given, "right", 0, 0)).toBeNull(),
  );
});
