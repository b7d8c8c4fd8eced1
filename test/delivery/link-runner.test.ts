import { describe, expect, it } from "vitest";
import { type Log, silentLog } from "../../src/platform/log.ts";
import { events } from "./fake-state.ts";
import { settle, setUp } from "./link-runner-harness.ts";

describe("a link runner", () => {
  it("is ready at once, whether the server is there or not", async () => {
    const { link, run, isReady, runner, stop } = setUp();
    link.behaviour = "refuses";
    const ended = run();
    expect(isReady()).toBe(true);
    await settle();
    expect(runner.health()).toMatchObject({ state: "down", figures: { connects: 0, connectFailures: 1 } });
    expect(runner.health().detail).toContain("connection refused");
    stop.abort();
    await ended;
  });

  it("begins with a snapshot and follows", async () => {
    const { state, fanOut, link, run, runner, stop } = setUp();
    state.set("r1", 1);
    const ended = run();
    await settle();
    fanOut.offer(state.set("r2", 2));
    fanOut.offer(events("e1"));
    await settle();
    expect(link.received).toEqual(["r1=1", "r2=2", "e1"]);
    expect(runner.health()).toMatchObject({
      state: "up",
      figures: { connects: 1, writes: 2, eventsQueued: 0 },
    });
    stop.abort();
    await ended;
    expect(link.counts.disposals).toBe(1);
  });

  it("connects anew at once where the connection would rather be another, and nothing is lost by it", async () => {
    const warnings: string[] = [];
    const log: Log = { ...silentLog, warn: (_, message) => void warnings.push(message), child: () => log };
    const { state, fanOut, link, run, runner, stop } = setUp({ log });
    state.set("r1", 1);
    const ended = run();
    await settle();
    link.behaviour = "stalls";
    fanOut.offer(events("e1"));
    await settle();
    link.moveOn();
    await settle();
    link.behaviour = "serves";
    link.resume();
    await settle();
    expect(link.counts).toMatchObject({ connects: 2, disposals: 1, attempts: 2 });
    expect(link.received.filter((one) => one === "e1").length).toBeGreaterThan(0);
    expect(link.received.filter((one) => one === "r1=1")).toHaveLength(2);
    expect(runner.health()).toMatchObject({ state: "up", figures: { connectionsLost: 0 } });
    expect(warnings).toEqual([]);
    stop.abort();
    await ended;
    expect(link.counts.disposals).toBe(2);
  });

  it("is up while its link waits on purpose, which says why itself", async () => {
    const { runner, link, run, clock, stop } = setUp();
    link.behaviour = "refuses";
    let reason: string | null = "stands by";
    Object.assign(link, { whyNot: () => reason });
    const ended = run();
    await clock.settle(30_000);
    expect(runner.health().state).toBe("up");
    reason = null;
    expect(runner.health().state).toBe("down");
    stop.abort();
    await ended;
  });

  it("says for how long it is not connected, whoever sets the wall clock", async () => {
    const { runner, link, run, clock, stop } = setUp();
    link.behaviour = "refuses";
    const ended = run();
    await settle();
    clock.jump(-3_600_000);
    await clock.settle(30_000);
    expect(runner.health().detail).toMatch(/^not connected for 30 s: /);
    stop.abort();
    await ended;
  });

  it("tries again with growing delays until the server is there, and says the outage once", async () => {
    const warnings: string[] = [];
    const log: Log = { ...silentLog, warn: (_, message) => void warnings.push(message), child: () => log };
    const { link, run, clock, stop } = setUp({ log });
    link.behaviour = "refuses";
    const ended = run();
    await settle();
    expect(link.counts.attempts).toBe(1);
    for (const [waitMs, attempts] of [
      [990, 1],
      [10, 2],
      [1_990, 2],
      [10, 3],
      [3_990, 3],
      [10, 4],
      [8_000, 5],
      [8_000, 6],
    ] as const) {
      await clock.settle(waitMs);
      expect(link.counts.attempts).toBe(attempts);
    }
    link.behaviour = "serves";
    await clock.settle(8_000);
    expect(link.counts.connects).toBe(1);
    expect(warnings).toEqual(["cannot connect"]);
    stop.abort();
    await ended;
  });

  it("hangs when the gateway's own broker has refused it for long, until it connects", async () => {
    const { link, run, clock, runner, stop } = setUp({ hangAfterMs: 60_000 });
    link.behaviour = "refuses";
    const ended = run();
    await clock.settle(60_000);
    expect(runner.hang?.()).toBeNull();
    await clock.settle(1_000);
    expect(runner.hang?.()).toBe("not connected to the gateway's own broker for 61 s");
    link.behaviour = "serves";
    await clock.settle(8_000);
    expect(runner.hang?.()).toBeNull();
    await clock.settle(600_000);
    expect(runner.hang?.()).toBeNull();
    stop.abort();
    await ended;
    await clock.settle(600_000);
    expect(runner.hang?.()).toBeNull();
  });

  it("never hangs for a broker of the plant: a restart would not bring that back", async () => {
    const { link, run, clock, runner, stop } = setUp();
    link.behaviour = "refuses";
    const ended = run();
    await clock.settle(3_600_000);
    expect(runner.health().state).toBe("down");
    expect(runner.hang?.()).toBeNull();
    stop.abort();
    await ended;
  });

  it("starts from a snapshot after every reconnect and loses no event", async () => {
    const { state, fanOut, link, run, clock, stop, runner } = setUp();
    const ended = run();
    await settle();
    fanOut.offer(state.set("r1", 1));
    await settle();
    link.breakOff("broker closed");
    await settle();
    expect(runner.health()).toMatchObject({ state: "down", figures: { connectionsLost: 1 } });
    fanOut.offer(state.set("r1", 2));
    fanOut.offer(state.set("r1", 3));
    fanOut.offer(events("e1", "e2"));
    await clock.settle(1_000);
    await settle();
    expect(link.received).toEqual(["r1=1", "r1=3", "e1", "e2"]);
    expect(link.counts.disposals).toBe(1);
    stop.abort();
    await ended;
  });

  it("keeps events of a write that failed, and sends them again", async () => {
    const { fanOut, link, run, clock, stop, outlet } = setUp();
    const ended = run();
    await settle();
    link.behaviour = "fails_writes";
    fanOut.offer(events("e1", "e2"));
    await settle();
    expect(outlet.eventsQueued()).toBe(2);
    link.behaviour = "serves";
    await clock.settle(1_000);
    await settle();
    expect(link.received).toEqual(["e1", "e2"]);
    expect(outlet.eventsQueued()).toBe(0);
    stop.abort();
    await ended;
  });

  it("writes one batch at a time", async () => {
    const { fanOut, state, link, run, stop } = setUp({ perTurn: 1 });
    const ended = run();
    await settle();
    link.behaviour = "stalls";
    for (let robot = 0; robot < 5; robot += 1) fanOut.offer(state.set(`r${robot}`, robot));
    await settle();
    expect(link.received).toEqual([]);
    link.behaviour = "serves";
    link.resume();
    await settle();
    expect(link.received).toEqual(["r0=0", "r1=1", "r2=2", "r3=3", "r4=4"]);
    expect(link.counts.mostAtOnce).toBe(1);
    stop.abort();
    await ended;
  });

  it("gives a write up that takes too long, and connects anew", async () => {
    const { fanOut, link, run, clock, stop, runner } = setUp();
    const ended = run();
    await settle();
    link.behaviour = "stalls";
    fanOut.offer(events("e1"));
    await settle();
    await clock.settle(3_000);
    expect(runner.health().state).toBe("up");
    await clock.settle(1_000);
    expect(runner.health().state).toBe("down");
    expect(runner.health().detail).toContain("4000 ms");
    link.behaviour = "serves";
    await clock.settle(1_000);
    await settle();
    expect(link.received).toEqual(["e1"]);
    expect(link.counts.disposals).toBe(1);
    stop.abort();
    await ended;
  });

  it("does not take a quiet time after a write for a write that hangs", async () => {
    const { fanOut, link, run, clock, stop, runner } = setUp();
    const ended = run();
    await settle();
    fanOut.offer(events("e1"));
    await settle();
    await clock.settle(60_000);
    expect(runner.health()).toMatchObject({ state: "up", figures: { connects: 1 } });
    expect(link.received).toEqual(["e1"]);
    stop.abort();
    await ended;
  });

  it("comes back soon to a server that had served it for long", async () => {
    const { link, run, clock, stop } = setUp();
    link.behaviour = "refuses";
    const ended = run();
    for (let round = 0; round < 5; round += 1) await clock.settle(8_000);
    link.behaviour = "serves";
    await clock.settle(8_000);
    await clock.settle(10_000);
    link.breakOff("restart");
    await settle();
    const { connects } = link.counts;
    await clock.settle(1_000);
    expect(link.counts.connects).toBe(connects + 1);
    stop.abort();
    await ended;
  });

  it("hands over and closes a connection that came when it was already told to stop", async () => {
    const { fanOut, link, run, stop, outlet } = setUp();
    fanOut.offer(events("e1"));
    const ended = run();
    stop.abort();
    await ended;
    expect(link.received).toEqual(["e1"]);
    expect(outlet.eventsQueued()).toBe(0);
    expect(link.counts.disposals).toBe(1);
  });

  it("ends though it was told to stop while it connected, with nothing to hand over", async () => {
    const { link, run, stop } = setUp();
    const ended = run();
    stop.abort();
    await ended;
    expect(link.counts).toMatchObject({ connects: 1, disposals: 1 });
  });

  it("hands over the events that wait before it closes", async () => {
    const { fanOut, link, run, stop } = setUp({ perTurn: 1 });
    const ended = run();
    await settle();
    fanOut.offer(events("e1", "e2", "e3"));
    stop.abort();
    await ended;
    expect(link.received).toEqual(["e1", "e2", "e3"]);
    expect(link.counts.disposals).toBe(1);
  });

  it("does not wait for a server that takes nothing longer than it may", async () => {
    const { fanOut, link, run, stop, clock, isOver } = setUp();
    const ended = run();
    await settle();
    link.behaviour = "stalls";
    fanOut.offer(events("e1"));
    await settle();
    stop.abort();
    await clock.settle(1_999);
    expect(isOver()).toBe(false);
    await clock.settle(1);
    await ended;
    expect(link.counts.disposals).toBe(1);
  });

  it("does not hurry to a server that accepts and drops at once", async () => {
    const { link, run, clock, stop } = setUp();
    const ended = run();
    for (let round = 0; round < 6; round += 1) {
      await settle();
      link.breakOff("not you");
      await clock.settle(8_000);
    }
    await settle();
    link.breakOff("not you");
    const { attempts } = link.counts;
    await clock.settle(7_000);
    expect(link.counts.attempts).toBe(attempts);
    await clock.settle(1_000);
    expect(link.counts.attempts).toBe(attempts + 1);
    stop.abort();
    await ended;
  });

  it("ends while it waits to connect again", async () => {
    const { link, run, stop } = setUp();
    link.behaviour = "refuses";
    const ended = run();
    await settle();
    stop.abort();
    await ended;
    expect(link.counts.attempts).toBe(1);
  });
});
