import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Clock, systemClock } from "../../src/platform/clock.ts";
import { type Held, type HoldingRelay, startHoldingRelay } from "../support/holding-relay.ts";
import { type E2eHarness, openE2eHarness } from "./e2e-harness.ts";
import { openPlc, type Plc } from "./plc.ts";
import {
  createPageController,
  type PageController,
  type PlcTime,
  type Retained,
  runUntil,
} from "./plc-controller.ts";

/**
 * The wire holds back what the page's program writes, and delivers it later: after a rotation of NextId, and
 * after the program has begun again in a session of its own.
 */
const TICKET_LIFE_MS = 30_000;
const robots = ["cart-01", "cart-02", "cart-03", "serve-01", "serve-02", "base-01"];

let harness: E2eHarness;
let relay: HoldingRelay;
let aheadMs = 0;
const clock: Clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs };
const time: PlcTime = { nowMs: 0 };
let cases = 0;

beforeAll(async () => {
  // A rotation must not make values old.
  const quality = { resyncMs: 600_000, streamSilenceMs: 600_000 };
  const opcua = { destinations: { 1: "Home 4" } };
  harness = await openE2eHarness({ timeFactor: 50 }, { opcua, quality }, clock);
  relay = await startHoldingRelay(() => harness.opcuaUrl.replace("opc.tcp://", ""));
}, 90_000);
afterAll(async () => {
  await relay.close();
  await harness.close();
});
const cleanups: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function missionsOf(robot: string): number {
  return harness
    .record(robot)
    .filter(({ fact }) => fact.what === "received" && fact.operation === "CreateMission").length;
}

interface Scene {
  readonly robot: string;
  readonly slot: (name: string) => string;
  /** The number whose write is held. */
  readonly number: number;
  readonly held: Held;
  /** What the program retained before it lost its power. */
  readonly retained: Retained;
}

/** A program has written a command, which is still on the wire; then its controller loses power. */
async function writeIsHeld(): Promise<Scene> {
  const robot = robots[cases % robots.length] as string;
  cases += 1;
  const slot = (name: string) => `Robots.${robot}.MissionSlot.${name}`;
  await harness.plc.shows(`Robots.${robot}.ReadyForCommand`, true);
  const plc = await openPlc(`opc.tcp://localhost:${relay.port}`, undefined, 0);
  const wire: { held: Held | null } = { held: null };
  const session: Pick<Plc, "shown" | "write"> = {
    shown: plc.shown,
    write(...values) {
      if (!isCalled) return plc.write(...values);
      wire.held = relay.hold();
      // Nobody waits for its answer.
      plc.write(...values).catch(() => {});
      return Promise.resolve([]);
    },
  };
  let isCalled = false;
  const controller = createPageController({ robot, session: () => session, nowMs: () => time.nowMs });
  await runUntil(controller, time, () => controller.output("CanExecute"));
  const number = await harness.plc.nextId(slot("NextId"));
  isCalled = true;
  await controller.cycle({ call: true });
  const { held } = wire;
  if (held === null) throw new Error("the cycle has written nothing");
  await held.caught;
  relay.cut();
  await plc.abandon();
  return { robot, slot, number, held, retained: controller.retained() };
}

/**
 * The controller has power again: a new session, and a program that begins from the start. `onFirstWrite`
 * happens between its first reads and its first write.
 */
async function newLife(
  { robot, retained }: Scene,
  memory: "retained" | "lost",
  onFirstWrite?: () => Promise<void>,
): Promise<PageController> {
  const plc = await openPlc(harness.opcuaUrl);
  cleanups.push(() => plc.close());
  let beforeWrite = onFirstWrite;
  const session: Pick<Plc, "shown" | "write"> = {
    shown: plc.shown,
    async write(...values) {
      await beforeWrite?.();
      beforeWrite = undefined;
      return plc.write(...values);
    },
  };
  return createPageController({
    robot,
    session: () => session,
    nowMs: () => time.nowMs,
    retained: memory === "retained" ? retained : undefined,
  });
}

/** NextId moves on, for nobody has used the number in its time. */
async function rotates({ slot, number }: Scene): Promise<void> {
  const shown = await harness.plc.follow(slot("NextId"));
  aheadMs += TICKET_LIFE_MS;
  await shown.first("another number", ({ value }) => value !== number && value !== 0);
}

function told(controller: PageController): readonly string[] {
  const names = ["Done", "NotSent", "LookFirst"] as const;
  return names.filter((name) => controller.output(name));
}

/** What the program shows for a cycle of its earlier life's command; nothing once it can take another one. */
async function wordsOf(controller: PageController): Promise<readonly string[]> {
  await until(controller, () => told(controller).length > 0 || controller.output("CanExecute"));
  return told(controller);
}

const until = (
  controller: PageController,
  is: () => boolean,
  inputs?: Parameters<PageController["cycle"]>[0],
) => runUntil(controller, time, is, inputs);

test.each([
  ["after a rotation", "retained", ["NotSent"]],
  ["after a rotation", "lost", []],
  ["without one", "retained", ["NotSent"]],
  ["without one", "lost", []],
] as const)(
  "held until a new life has sent a command of its own, %s, memory %s: one mission",
  async (when, memory, first) => {
    const scene = await writeIsHeld();
    const { robot, slot, number, held } = scene;
    const before = missionsOf(robot);
    if (when === "after a rotation") await rotates(scene);
    const again = await newLife(scene, memory);
    expect(await wordsOf(again)).toEqual(first);
    await until(again, () => again.output("CanExecute"));
    await until(again, () => again.output("Done"), { call: true });
    expect(again.outcome()).toBe(3);
    const answer = await harness.plc.value(slot("AcceptedId"));
    expect(answer).not.toBe(number);

    await held.deliver();
    expect(await harness.plc.value(slot("Closed"))).toContain(number);
    expect(await harness.plc.value(slot("AcceptedId"))).toBe(answer);
    for (let cycles = 0; cycles < 5; cycles += 1) await again.cycle({ call: true });
    expect(told(again)).toEqual(["Done"]);
    expect(missionsOf(robot) - before).toBe(1);
  },
);

test.each([
  ["before the new life has read anything", "retained", ["Done"]],
  // It cannot know of it, and closes the next number. AcceptedId and AcceptedText still tell a person.
  ["before the new life has read anything", "lost", []],
  ["between its first read and its closing", "retained", ["Done"]],
  // It was another life's command: what it was, this one does not know.
  ["between its first read and its closing", "lost", ["LookFirst"]],
] as const)("delivered %s, memory %s: the new life sends nothing more", async (when, memory, words) => {
  const scene = await writeIsHeld();
  const { robot, slot, number, held } = scene;
  const before = missionsOf(robot);
  const deliver = async () => {
    await held.deliver();
    await harness.plc.shows(slot("AcceptedId"), number);
  };
  const isBefore = when === "before the new life has read anything";
  if (isBefore) await deliver();
  const again = await newLife(scene, memory, isBefore ? undefined : deliver);
  expect(await wordsOf(again)).toEqual(words);
  if (memory === "retained") expect(again.outcome()).toBe(3);
  expect(await harness.plc.value(slot("AcceptedId"))).toBe(number);
  expect(missionsOf(robot) - before).toBe(1);
});

test("delivered after a rotation and before the new life closes it: it was not sent", async () => {
  const scene = await writeIsHeld();
  const { robot, slot, number, held } = scene;
  const before = missionsOf(robot);
  await rotates(scene);
  await held.deliver();
  expect(await harness.plc.value(slot("Closed"))).toContain(number);
  const again = await newLife(scene, "retained");
  expect(await wordsOf(again)).toEqual(["NotSent"]);
  expect(missionsOf(robot) - before).toBe(0);
});
