import { afterEach, expect, it } from "vitest";
import type { EventSubscribers } from "../../src/contracts/link.ts";
import { createFanOut } from "../../src/delivery/fan-out.ts";
import { createLinkRunner } from "../../src/delivery/link-runner.ts";
import type { FleetEvent } from "../../src/domain/event.ts";
import { silentLog } from "../../src/platform/log.ts";
import { createFakeState, events, roomy, turn } from "./fake-state.ts";
import { createInMemoryLink } from "./in-memory-link.ts";
import { createOutboxScene } from "./outbox/outbox-harness.ts";

const ends: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** Subscribers that come, go and acknowledge on demand. */
function createSubscribers() {
  const looks = new Set<() => void>();
  const shown: string[] = [];
  const sent: string[] = [];
  let areThere = false;
  let areComing = false;
  let arrive: (count: number) => void = () => {};
  const subscribers: EventSubscribers = {
    areThere: () => areThere,
    areComing: () => areComing,
    watch(look) {
      looks.add(look);
      return () => void looks.delete(look);
    },
    deliver(batch) {
      sent.push(...batch.map(inShort));
      return new Promise((resolve) => {
        arrive = resolve;
      });
    },
    show: ({ eventId }) => shown.push(eventId),
  };
  return {
    subscribers,
    shown,
    sent,
    watching: () => looks.size,
    come() {
      areComing = true;
      for (const look of looks) look();
    },
    set(are: boolean) {
      areThere = are;
      areComing = false;
      for (const look of looks) look();
    },
    arrive: (count: number) => arrive(count),
  };
}

function inShort({ eventId, historical }: FleetEvent): string {
  return historical === true ? `${eventId} historical` : eventId;
}

/** A link runner with an outbox, whose server keeps no events. */
async function setUp() {
  const scene = createOutboxScene();
  await scene.start();
  const state = createFakeState();
  const fanOut = createFanOut({ state, clock: scene.clock, log: silentLog });
  const link = createInMemoryLink();
  const crowd = createSubscribers();
  link.subscribers = crowd.subscribers;
  const stop = new AbortController();
  const runner = createLinkRunner(link, {
    outlet: fanOut.attachOutlet("mqtt", roomy, scene.box),
    backoff: { baseMs: 1_000, capMs: 8_000 },
    writeTimeoutMs: 4_000,
    drainMs: 2_000,
    clock: scene.clock,
    random: () => 0.999,
    log: silentLog,
  });
  const ended = runner.run(stop.signal, () => {});
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  ends.push(async () => {
    stop.abort();
    await scene.clock.settle(3_000);
    await ended;
  });
  const settle = async () => {
    await scene.sync();
    for (let turns = 0; turns < 12; turns += 1) await turn();
  };
  await settle();
  return { ...crowd, scene, state, fanOut, link, stop, settle, isOver: () => isOver };
}

it("keeps events for subscribers that have been there, and shows them meanwhile", async () => {
  const { fanOut, settle, set, sent, shown, arrive } = await setUp();
  set(true);
  set(false);
  fanOut.offer(events("e1", "e2"));
  await settle();
  expect([sent, shown]).toEqual([[], ["e1", "e2"]]);
  set(true);
  await settle();
  expect(sent).toEqual(["e1 historical", "e2 historical"]);
  arrive(2);
  fanOut.offer(events("e3"));
  await settle();
  expect(sent).toEqual(["e1 historical", "e2 historical", "e3"]);
});

it("hands over no event for a change of state while nobody is there to acknowledge it", async () => {
  const { fanOut, state, link, settle, set, sent } = await setUp();
  set(true);
  set(false);
  fanOut.offer(events("e1", "e2"));
  await settle();
  fanOut.offer(state.set("r1", 1));
  await settle();
  expect([sent, link.received]).toEqual([[], ["r1=1"]]);
});

it("keeps events for the first subscriber from when it begins to come", async () => {
  const { fanOut, settle, come, set, sent, shown } = await setUp();
  fanOut.offer(events("e1"));
  await settle();
  come();
  fanOut.offer(events("e2"));
  await settle();
  expect([sent, shown]).toEqual([[], ["e1"]]);
  set(true);
  await settle();
  expect(sent).toEqual(["e2 historical"]);
});

it("tells state while events wait for their acknowledgement", async () => {
  const { fanOut, state, link, settle, set, sent, arrive } = await setUp();
  set(true);
  fanOut.offer(events("e1"));
  await settle();
  fanOut.offer(state.set("r1", 1));
  fanOut.offer(events("e2"));
  await settle();
  expect([sent, link.received]).toEqual([["e1"], ["r1=1"]]);
  arrive(1);
  await settle();
  expect(sent).toEqual(["e1", "e2"]);
});

it("hands over again what has not arrived", async () => {
  const { fanOut, settle, set, sent, arrive, scene } = await setUp();
  set(true);
  fanOut.offer(events("e1", "e2", "e3"));
  await settle();
  arrive(1);
  await settle();
  expect(sent).toEqual(["e1", "e2", "e3", "e2", "e3"]);
  arrive(2);
  await settle();
  expect(scene.box.length).toBe(0);
});

it("keeps what the last subscriber has not acknowledged", async () => {
  const { fanOut, settle, set, sent, arrive, scene } = await setUp();
  set(true);
  fanOut.offer(events("e1", "e2"));
  await settle();
  set(false);
  arrive(1);
  await settle();
  expect([sent, scene.box.length]).toEqual([["e1", "e2"], 1]);
  set(true);
  await settle();
  expect(sent).toEqual(["e1", "e2", "e2 historical"]);
});

it("waits at the end for those that are there, and for nobody else", async () => {
  const { fanOut, settle, set, stop, isOver, watching } = await setUp();
  set(true);
  fanOut.offer(events("e1"));
  await settle();
  stop.abort();
  await settle();
  expect(isOver()).toBe(false);
  set(false);
  await settle();
  expect([isOver(), watching()]).toEqual([true, 0]);
});
