import { describe, expect, it } from "vitest";
import type { Batch } from "../../src/contracts/link.ts";
import { createFanOut } from "../../src/delivery/fan-out.ts";
import { type Log, silentLog } from "../../src/platform/log.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { createFakeState, events, roomy, short, turn } from "./fake-state.ts";

function setUp(log: Log = silentLog) {
  const state = createFakeState();
  const clock = createManualClock();
  const fanOut = createFanOut({ state, clock, log });
  const shown: string[][] = [];
  const sink = { write: (batch: Batch) => void shown.push(short(batch)) };
  return { state, clock, fanOut, shown, sink };
}

describe("a sink", () => {
  it("begins with everything there is", async () => {
    const { state, fanOut, shown, sink } = setUp();
    state.set("r1", 10);
    state.set("r2", 20);
    fanOut.attachSink("opcua", sink, roomy);
    await turn();
    expect(shown).toEqual([["r1=10", "r2=20"]]);
  });

  it("gets nothing when there is nothing", async () => {
    const { fanOut, shown, sink } = setUp();
    fanOut.attachSink("opcua", sink, roomy);
    await turn();
    expect(shown).toEqual([]);
  });

  it("gets what happened in one turn as one batch, the newest value of each key", async () => {
    const { state, fanOut, shown, sink } = setUp();
    fanOut.attachSink("opcua", sink, roomy);
    await turn();
    fanOut.offer(state.set("r1", 1));
    fanOut.offer(state.set("r2", 2));
    fanOut.offer(state.set("r1", 3));
    fanOut.offer(events("e1"));
    expect(shown).toEqual([]);
    await turn();
    expect(shown).toEqual([["r1=3", "r2=2", "e1"]]);
  });

  it("gets a bounded slice a turn", async () => {
    const { state, fanOut, shown, sink } = setUp();
    fanOut.attachSink("opcua", sink, { ...roomy, perTurn: 2 });
    await turn();
    for (const robotId of ["r1", "r2", "r3"]) fanOut.offer(state.set(robotId, 1));
    fanOut.offer(events("e1", "e2", "e3"));
    await turn();
    expect(shown).toEqual([["r1=1", "r2=1", "e1", "e2"]]);
    await turn();
    expect(shown[1]).toEqual(["r3=1", "e3"]);
  });

  it("that throws silences nobody, and is counted", async () => {
    const { state, fanOut, shown, sink } = setUp();
    const broken = {
      write() {
        throw new Error("no");
      },
    };
    fanOut.attachSink("broken", broken, roomy);
    fanOut.attachSink("opcua", sink, roomy);
    fanOut.offer(state.set("r1", 1));
    await turn();
    expect(shown).toEqual([["r1=1"]]);
    expect(fanOut.health().figures).toMatchObject({ "broken.failures": 1, "opcua.failures": 0 });
  });

  it("that throws at one change shows the others of the slice, and the events", async () => {
    const { state, fanOut, shown } = setUp();
    const write = (batch: Batch) => {
      for (const part of short(batch)) {
        if (part === "r2=2") throw new Error("no");
        shown.push([part]);
      }
    };
    fanOut.attachSink("opcua", { write }, roomy);
    await turn();
    for (const [at, robotId] of ["r1", "r2", "r3"].entries()) fanOut.offer(state.set(robotId, at + 1));
    fanOut.offer(events("e1"));
    await turn();
    // The first one twice: before the failure, and alone.
    expect(shown.flat()).toEqual(["r1=1", "r1=1", "r3=3", "e1"]);
    expect(fanOut.health().figures).toMatchObject({ "opcua.failures": 1 });
  });

  it("gets nothing after it was detached", async () => {
    const { state, fanOut, shown, sink } = setUp();
    const detach = fanOut.attachSink("opcua", sink, roomy);
    detach();
    fanOut.offer(state.set("r1", 1));
    await turn();
    expect(shown).toEqual([]);
    expect(fanOut.health().figures).toEqual({});
  });

  it("has a name of its own", () => {
    const { fanOut, sink } = setUp();
    fanOut.attachSink("opcua", sink, roomy);
    expect(() => fanOut.attachSink("opcua", sink, roomy)).toThrow("opcua");
  });
});

describe("a turn of the event loop", () => {
  /** Northbounds that take so long for each batch, by the test's clock. */
  function attach({ fanOut, clock, shown }: ReturnType<typeof setUp>, names: readonly string[], ms: number) {
    for (const name of names) {
      const write = (batch: Batch) => {
        clock.advance(ms);
        shown.push([name, ...short(batch)]);
      };
      fanOut.attachSink(name, { write }, { ...roomy, perTurn: 2 });
    }
  }

  it("ends when the northbounds have had their time, and the next one begins with the others", async () => {
    const scene = setUp();
    attach(scene, ["opcua", "api", "tail"], 5);
    scene.fanOut.offer(scene.state.set("r1", 1));
    scene.fanOut.offer(events("e1", "e2", "e3"));
    await turn();
    const first = [
      ["opcua", "r1=1", "e1", "e2"],
      ["api", "r1=1", "e1", "e2"],
    ];
    expect(scene.shown).toEqual(first);
    scene.fanOut.offer(scene.state.set("r1", 2));
    await turn();
    // The newest value, and no northbound a second time before each has had its slice.
    expect(scene.shown.slice(2)).toEqual([["tail", "r1=2", "e1", "e2"]]);
    for (let more = 0; more < 3; more += 1) await turn();
    expect(scene.shown.slice(3)).toEqual([
      ["opcua", "r1=2", "e3"],
      ["api", "r1=2", "e3"],
      ["tail", "e3"],
    ]);
  });

  it("leaves nobody without what came after its slice", async () => {
    const scene = setUp();
    attach(scene, ["opcua", "api", "tail"], 5);
    scene.fanOut.offer(scene.state.set("r1", 1));
    await turn();
    scene.fanOut.offer(scene.state.set("r1", 2));
    for (let more = 0; more < 3; more += 1) await turn();
    expect(scene.shown.slice(2)).toEqual([
      ["tail", "r1=2"],
      ["opcua", "r1=2"],
      ["api", "r1=2"],
    ]);
  });

  it("ends when links have been handed enough, because they write later", async () => {
    const { state, fanOut } = setUp();
    const taken: string[] = [];
    for (const name of ["mqtt", "mqtt2", "sparkplug"]) {
      const outlet = fanOut.attachOutlet(name, roomy);
      outlet.open();
      void outlet.next().then((slice) => taken.push(`${name} ${slice?.changes.length}`));
    }
    for (let robot = 0; robot < 60; robot += 1) fanOut.offer(state.set(`r${robot}`, robot));
    await turn();
    expect(taken).toEqual(["mqtt 60", "mqtt2 60"]);
    await turn();
    expect(taken.slice(2)).toEqual(["sparkplug 60"]);
  });

  it("goes on with the others when the next one is detached", async () => {
    const scene = setUp();
    attach(scene, ["opcua", "api"], 5);
    const detach = scene.fanOut.attachSink("tail", scene.sink, roomy);
    attach(scene, ["late"], 5);
    scene.fanOut.offer(events("e1"));
    await turn();
    detach();
    await turn();
    expect(scene.shown).toEqual([
      ["opcua", "e1"],
      ["api", "e1"],
      ["late", "e1"],
    ]);
  });
});

describe("an outlet", () => {
  it("keeps no changes while it is closed, and begins with a snapshot when it opens", async () => {
    const { state, fanOut } = setUp();
    const outlet = fanOut.attachOutlet("mqtt", roomy);
    for (let charge = 0; charge < 50; charge += 1) fanOut.offer(state.set("r1", charge));
    fanOut.offer(events("e1"));
    expect(await outlet.next()).toBeNull();
    outlet.open();
    const slice = await outlet.next();
    expect(slice && short(slice)).toEqual(["r1=49", "e1"]);
  });

  it("brings events again until they are released", async () => {
    const { fanOut } = setUp();
    const outlet = fanOut.attachOutlet("mqtt", roomy);
    fanOut.offer(events("e1", "e2"));
    outlet.open();
    expect(await outlet.next()).toMatchObject({ events: [{ eventId: "e1" }, { eventId: "e2" }] });
    outlet.close();
    outlet.open();
    const again = await outlet.next();
    expect(again && short(again)).toEqual(["e1", "e2"]);
    if (again) outlet.release(again);
    expect(outlet.eventsQueued()).toBe(0);
  });

  it("releases by number: what was dropped meanwhile takes nothing newer with it", async () => {
    const { fanOut } = setUp();
    const outlet = fanOut.attachOutlet("mqtt", { ...roomy, events: 2 });
    fanOut.offer(events("e1", "e2"));
    outlet.open();
    const slice = await outlet.next();
    fanOut.offer(events("e3"));
    if (slice) outlet.release(slice);
    const next = await outlet.next();
    expect(next && short(next)).toEqual(["e3"]);
    expect(outlet.figures()).toMatchObject({ eventsDropped: 1, eventsQueued: 1 });
  });

  it("lets go of who waits when it closes", async () => {
    const { fanOut } = setUp();
    const outlet = fanOut.attachOutlet("mqtt", roomy);
    outlet.open();
    const waiting = outlet.next();
    outlet.close();
    expect(await waiting).toBeNull();
  });

  it("that is slow does not slow another", async () => {
    const { state, fanOut, shown, sink } = setUp();
    const outlet = fanOut.attachOutlet("mqtt", { ...roomy, changes: 3 });
    outlet.open();
    fanOut.attachSink("opcua", sink, roomy);
    for (let robot = 0; robot < 500; robot += 1) {
      fanOut.offer(state.set(`r${robot}`, robot));
      if (robot % 10 === 0) await turn();
    }
    await turn();
    expect(shown.flat()).toHaveLength(500);
    expect(fanOut.health().figures?.["mqtt.changesQueued"]).toBeLessThanOrEqual(4);
    const slice = await outlet.next();
    expect(slice?.changes).toHaveLength(500);
  });

  it("logs the loss of events once when it begins and once when it is over", async () => {
    const lines: string[] = [];
    const log: Log = {
      ...silentLog,
      warn: (fields, message) => void lines.push(`${message}, of ${fields.of}`),
      info: (fields, message) => void lines.push(`${message}: ${fields.lost}`),
    };
    const { fanOut, clock } = setUp(log);
    fanOut.attachOutlet("mqtt", { ...roomy, events: 3 });
    for (let event = 0; event < 12; event += 1) fanOut.offer(events(`e${event}`));
    clock.advance(20_000);
    for (let event = 0; event < 8; event += 1) fanOut.offer(events(`f${event}`));
    clock.advance(29_000);
    expect(lines).toEqual(["event queue is full: the oldest events are lost, of r1"]);
    expect(fanOut.health()).toMatchObject({
      state: "degraded",
      detail: "more events come than can be handed over, and the oldest are lost: mqtt",
      figures: { "mqtt.eventsDropped": 17 },
    });
    clock.advance(1_000);
    expect(lines.slice(1)).toEqual(["events are not lost any more: 17"]);
    expect(fanOut.health()).toMatchObject({ state: "up" });
  });
});
