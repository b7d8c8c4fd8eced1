import { beforeEach, describe, expect, it } from "vitest";
import { createMember, type Member } from "../../src/cluster/protocol/member.ts";
import { LEADER_KEY, type LedRecord } from "../../src/cluster/protocol/records.ts";
import { leadershipOf } from "../../src/cluster/protocol/unled.ts";
import { times } from "./model/record.ts";
import { Box, createRandom, Simulation } from "./model/simulation.ts";
import { createStoreLink } from "./model/store-link.ts";
import { StoreModel } from "./model/store-model.ts";
import { noDisk } from "./no-disk.ts";

interface Process {
  readonly box: Box;
  readonly member: Member;
  /** Whom it has begun to fence. */
  readonly fenced: string[];
  cutUntilMs: number;
  hasSession: boolean;
  /** It leads no more, and its process ends. */
  isOver: boolean;
}

const calm = { lossy: 0, latestMs: 0, watchLagMs: 5 };
const FENCE_MS = 1_000;

let sim: Simulation;
let store: StoreModel;
let lives: number;
/** What the command of each box says; null: it has succeeded. */
let problem: string | null;
let fenceMs: number;
let takenOver: string[];

beforeEach(() => {
  sim = new Simulation();
  store = new StoreModel(sim, () => {});
  [lives, problem, fenceMs, takenOver] = [0, null, FENCE_MS, []];
});

const pass = (seconds: number) => sim.play(sim.nowMs + seconds * 1_000, () => false);

function start(name: string, hasCommand = true): Process {
  lives += 1;
  const box = new Box(sim, 1);
  const id = `${name}.${lives}`;
  const fence = (target: LedRecord) => {
    own.fenced.push(`${target.member} ${target.process}`);
    return new Promise<string | null>((resolve) => box.clock.after(fenceMs, () => resolve(problem)));
  };
  const own: Process = {
    ...{ box, fenced: [], cutUntilMs: 0, hasSession: true, isOver: false },
    member: createMember({
      store: createStoreLink({
        ...{ sim, store, box, process: id, random: createRandom(lives), faults: () => calm },
        cutUntilMs: () => own.cutUntilMs,
      }),
      ...{
        clock: box.clock,
        times,
        records: { readStart: () => null, canRead: () => true },
        identity: { member: name, process: id },
      },
      disk: noDisk,
      leading: {
        hasSession: () => own.hasSession,
        isPublished: () => true,
        ...(hasCommand ? { fence } : {}),
        async takeOver() {
          takenOver.push(id);
        },
        lost() {
          own.isOver = true;
          box.isDead = true;
        },
      },
      others: {
        facts: () => {
          const facts = { version: "1", configuration: {}, handover: null };
          return { ...facts, fence: own.member.fencing.state() };
        },
        ...{ stop() {}, table() {}, published() {} },
        repeat: async () => {},
      },
    }),
  };
  box.enter(() => own.member.start());
  return own;
}

function kill({ box }: Process): void {
  box.isDead = true;
}

/** Two boxes of which the first one leads. */
async function twoBoxes() {
  const [a, b] = [start("a"), start("b")];
  // The one that begins first has asked first.
  await pass(3);
  expect([a.member.isLeading(), b.member.isLeading()]).toContain(true);
  return a.member.isLeading()
    ? { leader: a, other: b, names: ["a", "b"] }
    : { leader: b, other: a, names: ["b", "a"] };
}

describe("nobody is fenced", () => {
  it("at the first start of a cluster", async () => {
    const { leader } = await twoBoxes();
    expect(leader.fenced).toEqual([]);
  });

  it("after the leader has resigned, in whichever way", async () => {
    const { leader, other, names } = await twoBoxes();
    leader.box.enter(() => void leader.member.resign("planned"));
    await pass(1);
    expect([leader.isOver, other.member.isLeading(), other.fenced]).toEqual([true, true, []]);

    const again = start(names[0] ?? "");
    await pass(8);
    other.hasSession = false;
    await pass(10);
    expect([other.isOver, again.member.isLeading(), again.fenced]).toEqual([true, true, []]);
  });

  it("by the box that has led itself: its process has ended", async () => {
    const { leader, other, names } = await twoBoxes();
    kill(leader);
    kill(other);
    await pass(5);
    const again = start(names[0] ?? "");
    await pass(3);
    expect([again.member.isLeading(), again.fenced]).toEqual([true, []]);
  });

  it("while the gateway of the box that has led runs again: that one leads", async () => {
    const { leader, other, names } = await twoBoxes();
    kill(leader);
    await pass(0.3);
    const again = start(names[0] ?? "");
    await pass(10);
    expect([again.member.isLeading(), other.member.isLeading()]).toEqual([true, false]);
    expect([again.fenced, other.fenced]).toEqual([[], []]);
  });

  it("without a command", async () => {
    const a = start("a", false);
    await pass(2);
    const b = start("b", false);
    await pass(2);
    kill(a);
    await pass(6);
    expect(b.member.isLeading()).toBe(true);
  });
});

describe("a leader that is lost is fenced", () => {
  it("before the other box takes over", async () => {
    const { leader, other, names } = await twoBoxes();
    fenceMs = 20_000;
    kill(leader);
    // Its gateway could start again until then.
    await pass(7);
    expect(other.fenced).toEqual([]);
    await pass(5);
    expect(other.fenced).toEqual([takenOver[0]?.replace(/^(.)/, "$1 $1")]);
    expect([takenOver.length, other.member.isLeading()]).toEqual([1, false]);
    expect(other.member.fencing.state()).toEqual({ of: names[0], problem: null });
    expect(leadershipOf(other.member, "x")).toEqual({
      leader: null,
      because: `x fences ${names[0]} before it leads`,
    });
    await pass(20);
    expect([takenOver.length, other.member.isLeading()]).toEqual([2, true]);
    expect(other.member.fencing.state()).toBeNull();
    expect(other.fenced).toHaveLength(1);
  });

  it("also if it lives, and is only cut off from etcd", async () => {
    const { leader, other } = await twoBoxes();
    leader.cutUntilMs = sim.nowMs + 60_000;
    await pass(12);
    expect([other.fenced.length, other.member.isLeading()]).toEqual([1, true]);
  });

  it("also by a box whose process has begun anew since then", async () => {
    const { leader, other, names } = await twoBoxes();
    kill(leader);
    kill(other);
    problem = "the program ended with exit code 1";
    const again = start(names[1] ?? "");
    await pass(60);
    expect([again.member.isLeading(), again.fenced.length > 1]).toEqual([false, true]);
    kill(again);
    problem = null;
    const third = start(names[1] ?? "");
    await pass(10);
    expect([third.member.isLeading(), third.fenced.length]).toEqual([true, 1]);
  });

  it("and nobody leads by a fence that has outlasted its epoch", async () => {
    const { leader, other } = await twoBoxes();
    fenceMs = 20_000;
    kill(leader);
    await pass(12);
    expect(other.fenced).toHaveLength(1);
    other.cutUntilMs = sim.nowMs + 10_000;
    await pass(4);
    const third = start("c", false);
    await pass(30);
    expect([third.member.isLeading(), other.isOver]).toEqual([true, true]);
    expect(takenOver).toHaveLength(2);
  });
});

describe("a fence that fails", () => {
  beforeEach(() => {
    problem = "the program ended with exit code 1";
  });

  it("lets nobody lead, and is tried again after a pause", async () => {
    const { leader, other, names } = await twoBoxes();
    kill(leader);
    await pass(12);
    expect(other.member.isLeading()).toBe(false);
    // The leadership is given back, and the box stands by.
    expect(store.entries.has(LEADER_KEY)).toBe(false);
    expect([other.isOver, other.member.epoch()]).toEqual([false, null]);
    expect(other.member.fencing.state()).toEqual({ of: names[0], problem });
    expect(leadershipOf(other.member, "x").because).toBe(`x could not fence ${names[0]}: ${problem}`);
    await pass(60);
    expect(other.fenced.length).toBeGreaterThanOrEqual(4);
    expect(other.fenced.length).toBeLessThanOrEqual(5);
    problem = null;
    await pass(20);
    expect([other.member.isLeading(), other.member.fencing.state()]).toEqual([true, null]);
    await pass(20);
    expect([other.member.isLeading(), takenOver.length]).toEqual([true, 2]);
  });

  it("leaves the leadership to the box that has led, when it runs again", async () => {
    const { leader, other, names } = await twoBoxes();
    kill(leader);
    await pass(12);
    const again = start(names[0] ?? "");
    await pass(8);
    expect([again.member.isLeading(), again.fenced]).toEqual([true, []]);
    expect(other.member.fencing.state()).toBeNull();
    expect(other.member.takeover()).toBeNull();
    expect(again.member.takeover()).toMatchObject({ from: names[0], why: "lost" });
  });

  it("is told to the other members", async () => {
    const { leader, other, names } = await twoBoxes();
    kill(leader);
    await pass(12);
    const third = start("c", false);
    third.hasSession = false;
    await pass(4);
    expect(leadershipOf(third.member, "c")).toEqual({
      leader: null,
      because: `${names[1]} could not fence ${names[0]}: ${problem}`,
    });
    expect(other.isOver).toBe(false);
  });

  it("is confirmed by an engineer, for this takeover alone", async () => {
    const { leader, other, names } = await twoBoxes();
    const [first = "", second = ""] = names;
    expect(other.member.fencing.confirm(first)).toMatch(/^no fence has failed here/);
    kill(leader);
    await pass(12);
    expect(other.member.fencing.confirm(second)).toBe(`${second} has not led last: ${first} is to be fenced`);
    expect(other.member.fencing.confirm(first)).toBeNull();
    await pass(2);
    expect([other.member.isLeading(), other.fenced.length]).toEqual([true, 1]);

    const again = start(first);
    await pass(4);
    kill(other);
    await pass(12);
    expect([again.member.isLeading(), again.fenced.length]).toEqual([false, 1]);
  });

  it("is not confirmed of a box whose gateway is heard", async () => {
    const { leader, other, names } = await twoBoxes();
    const [first = ""] = names;
    kill(leader);
    await pass(12);
    const again = start(first);
    again.hasSession = false;
    await pass(4);
    expect(other.member.fencing.confirm(first)).toMatch(/is not off: its gateway has just been heard/);
    again.hasSession = true;
    await pass(5);
    expect(again.member.isLeading()).toBe(true);
    expect(other.member.fencing.confirm(first)).toMatch(/^no fence has failed here/);
  });
});
