import { describe, expect, it } from "vitest";
import { events } from "./fake-state.ts";
import { settle, setUp } from "./link-runner-harness.ts";

describe("a link runner whose server does not take an event yet", () => {
  it("writes again after a growing pause what the server does not take, and state meanwhile", async () => {
    const { state, fanOut, link, run, runner, clock, stop } = setUp();
    const ended = run();
    await settle();
    link.notTaken.add("e2");
    fanOut.offer(events("e1", "e2", "e3"));
    await settle();
    fanOut.offer(state.set("r1", 1));
    fanOut.offer(events("e4"));
    await settle();
    expect(link.received).toEqual(["e1", "r1=1"]);
    expect(runner.health()).toMatchObject({ state: "up", figures: { connects: 1, eventsQueued: 4 } });
    await clock.settle(1_000);
    expect(runner.health()).toMatchObject({ figures: { writes: 3, eventsQueued: 3 } });
    await clock.settle(1_999);
    link.notTaken.clear();
    expect(runner.health()).toMatchObject({ figures: { writes: 3 } });
    await clock.settle(1);
    expect(link.received).toEqual(["e1", "r1=1", "e2", "e3", "e4"]);
    expect(runner.health()).toMatchObject({ figures: { connects: 1, eventsQueued: 0 } });
    stop.abort();
    await ended;
  });

  it("ends a pause with the time that waiting events have at the end", async () => {
    const { fanOut, link, run, clock, stop, isOver } = setUp();
    const ended = run();
    await settle();
    link.notTaken.add("e1");
    fanOut.offer(events("e1"));
    await settle();
    stop.abort();
    await clock.settle(1_999);
    expect(isOver()).toBe(false);
    await clock.settle(1);
    await ended;
    expect(link.received).toEqual([]);
  });
});
