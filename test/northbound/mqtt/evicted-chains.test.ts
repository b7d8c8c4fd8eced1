import { afterEach, describe, expect, test } from "vitest";
import { createFanOut } from "../../../src/delivery/fan-out.ts";
import { createFeed } from "../../../src/delivery/feed.ts";
import { createLinkRunner } from "../../../src/delivery/link-runner.ts";
import { changeKey } from "../../../src/domain/change.ts";
import { createTopics } from "../../../src/northbound/mqtt/topics.ts";
import { createValueWriter } from "../../../src/northbound/mqtt/values.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { silentLog } from "../../../src/platform/log.ts";
import { seededRandom } from "../../../src/simulator/world/random.ts";
import { chainEvent, missionEvent } from "../../delivery/fleet-updates.ts";
import { newFleetState } from "../../support/fleet-state.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { newLink } from "./link-harness.ts";
import { haveMosquitto, startMosquitto } from "./mosquitto.ts";
import { base, external, listen, mqttOptions } from "./mqtt-harness.ts";

const cleanups: Array<() => Promise<unknown> | unknown> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const limits = { changes: 50_000, events: 10, perTurn: 500 };

test("of 100,000 chains the broker keeps those that the state holds, however often the connection is lost", () => {
  const clock = createManualClock();
  const state = newFleetState(clock, { maxTaskChains: 1_000 });
  const feed = createFeed("mqtt", limits, { state, clock, log: silentLog });
  const retained = new Map<string, string>();
  const topics = createTopics(base);
  const publish = (topic: string, payload: string) => void retained.set(topic, payload);
  const remove = (topic: string) => void retained.delete(topic);
  const parts = { topics, sessionId: "s1", publish, remove, tags: null, robots: () => [] };
  const newWriter = () => createValueWriter(parts);
  const random = seededRandom(7);
  let writer = newWriter();
  let most = 0;

  /** One slice; where the connection is lost, an unknown part of it has reached the broker. */
  function handOver(isLost: boolean): void {
    const slice = feed.take();
    const arrived = isLost ? Math.floor(random() * slice.changes.length) : slice.changes.length;
    for (const change of slice.changes.slice(0, arrived)) writer.write(change);
    if (isLost) {
      feed.setOpen(true);
      writer = newWriter();
    } else {
      feed.release(slice);
    }
  }

  for (let chain = 1; chain <= 100_000; chain += 1) {
    for (const isFinished of [false, random() < 0.9]) {
      for (const change of state.apply(chainEvent(chain, isFinished)).changes) {
        feed.pushChange(changeKey(change), change);
      }
    }
    // For 20,000 chains nothing is read at all.
    if (chain > 30_000 && chain < 50_000) continue;
    if (chain % 250 === 0) handOver(random() < 0.05);
    most = Math.max(most, retained.size, feed.figures().changesQueued ?? 0);
  }
  while (feed.hasWork()) handOver(false);

  const held = state.snapshot().map((change) => (change.kind === "task_chain" ? change.chainId : 0));
  expect([...retained.keys()].sort()).toEqual(held.map(topics.taskChain).sort());
  expect(held).toHaveLength(1_000);
  expect(state.figures().taskChainsEvicted).toBe(99_000);
  expect(most).toBeLessThan(50_000);
});

describe.runIf(haveMosquitto)("with mosquitto", () => {
  async function open(protocolVersion: 4 | 5, refreshMs: number, maxTaskChains: number) {
    const mosquitto = await startMosquitto();
    cleanups.push(() => mosquitto.stop());
    const state = newFleetState(systemClock, { maxTaskChains });
    const fanOut = createFanOut({ state, clock: systemClock, log: silentLog });
    const options = mqttOptions({ broker: external(mosquitto.url), protocolVersion, refreshMs });
    const runner = createLinkRunner(newLink({ options }), {
      outlet: fanOut.attachOutlet("mqtt", limits),
      backoff: { baseMs: 10, capMs: 50 },
      writeTimeoutMs: 30_000,
      drainMs: 1_000,
      clock: systemClock,
      random: Math.random,
      log: silentLog,
    });
    const stopping = new AbortController();
    const run = runner.run(stopping.signal, () => {});
    cleanups.push(async () => {
      stopping.abort();
      await run;
    });
    const watch = async () => {
      const watcher = await listen(mosquitto.url, {}, `${base}/#`);
      cleanups.push(() => watcher.client.endAsync(true));
      return watcher;
    };
    const chain = (id: number) => fanOut.offer(state.apply(chainEvent(id, true)));
    return { url: mosquitto.url, state, chain, watch, offer: fanOut.offer };
  }

  test("what is evicted is retained no more, also what was evicted while the connection was away", async () => {
    const { url, state, chain, watch } = await open(4, 60_000, 50);
    const watcher = await watch();
    for (let id = 1; id <= 500; id += 1) chain(id);
    await watcher.on("task_chains/500");
    // Somebody with the same name takes the connection away.
    const thief = await listen(url, { clientId: "fleetgate-test" }, `${base}/none`);
    await watcher.on("status", (message) => message.text.includes('"offline"'));
    for (let id = 501; id <= 1_000; id += 1) chain(id);
    await thief.client.endAsync(true);
    // The order in which topics are cleared is not promised.
    const shown = () => {
      const texts = new Map(watcher.received.map(({ topic, text }) => [topic, text]));
      return [...texts].filter(([topic, text]) => topic.includes("/task_chains/") && text !== "");
    };
    // Fifty may be shown before the last of the older ones are cleared.
    const isNew = ([topic]: readonly [string, string]) => Number(topic.split("/").at(-1)) > 950;
    await watcher.receive(() => shown().length === 50 && shown().every(isNew));
    const late = await watch();
    // The marker comes after all that is retained.
    await late.client.publishAsync(`${base}/marker`, "here");
    await late.on("marker");
    // What was evicted may be cleared once more meanwhile: such a message is not retained.
    const kept = late.received
      .filter(({ topic, packet }) => packet.retain && topic.includes("/task_chains/"))
      .map(({ topic }) => topic);
    expect(kept).toHaveLength(50);
    expect(state.snapshot()).toHaveLength(50);
    expect(kept).toContain(`${base}/task_chains/951`);
  });

  test("with MQTT 5 it is not published again when the others are", async () => {
    const { state, chain, offer, watch } = await open(5, 100, 2);
    offer(state.apply(missionEvent("r1", ["m1:RUNNING"])));
    const watcher = await watch();
    for (const id of [1, 2, 3]) chain(id);
    await watcher.on("task_chains/1", (message) => message.text === "");
    const from = watcher.received.length;
    const again = () => watcher.received.slice(from).filter(({ topic }) => topic.endsWith("/task_chains/2"));
    await watcher.receive(() => again().length >= 5);
    expect(watcher.received.slice(from).some(({ topic }) => topic.endsWith("/task_chains/1"))).toBe(false);
  });
});
