import type { VariantOptions } from "node-opcua";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createManualClock } from "../support/manual-clock.ts";
import { type E2eHarness, openE2eHarness } from "./e2e-harness.ts";
import { int32, type Plc, text } from "./plc.ts";

/** A client whose driver writes each tag by itself, and only when its value changes; RequestId comes last. */
const ROBOT = "cart-01";
const slot = (name: string) => `Robots.${ROBOT}.MissionSlot.${name}`;
const [NAVIGATE, CANCEL, PAUSE] = [1, 10, 11] as const;
const [SUCCEEDED, REFUSED] = [3, 4] as const;

let harness: E2eHarness;
beforeAll(async () => {
  // Missions do not end by themselves: the world's time stands still.
  harness = await openE2eHarness({ clock: createManualClock(Date.now()), timeFactor: 1 });
}, 90_000);
afterAll(() => harness.close());

type Image = Readonly<Record<string, VariantOptions>>;

/** @returns what brings the image of the PLC's outputs to the gateway, a write request a tag */
function createDriver(plc: Plc): (image: Image) => Promise<readonly string[]> {
  const last = new Map<string, unknown>();
  return async (image) => {
    const written = Object.entries(image).filter(([name, { value }]) => last.get(name) !== value);
    for (const [name, value] of written) {
      expect(await plc.write([slot(name), value])).toEqual(["Good"]);
      last.set(name, value.value);
    }
    return written.map(([name]) => name);
  };
}

test("several commands go out as they are meant; TargetMissionId serves the first that uses it", async () => {
  const { plc } = harness;
  await plc.shows(`Robots.${ROBOT}.ReadyForCommand`, true);
  const drive = createDriver(plc);

  /** Resolves with the tags that the driver wrote, and the outcome. */
  async function send(operation: number, destination: string, target: string) {
    const number = await plc.nextId(slot("NextId"));
    const written = await drive({
      Operation: int32(operation),
      Destination: text(destination),
      TargetMissionId: text(target),
      RequestId: int32(number),
    });
    await plc.shows(slot("DoneId"), number);
    expect(await plc.value(slot("AcceptedId"))).toBe(number);
    const [outcome, error] = [await plc.value(slot("Outcome")), await plc.value(slot("ErrorId"))];
    return { written, outcome, error };
  }
  const all = ["Operation", "Destination", "TargetMissionId", "RequestId"];
  const done = { outcome: SUCCEEDED, error: 0 };
  const missionNow = () => plc.value(slot("MissionId"));

  expect(await send(NAVIGATE, "Station A", "")).toEqual({ written: all, ...done });
  const first = await missionNow();
  await plc.shows(`Robots.${ROBOT}.Mission.MissionId`, first);
  // The service knows no such mission.
  expect(await send(PAUSE, "Station A", "m-old")).toEqual({
    written: ["Operation", "TargetMissionId", "RequestId"],
    outcome: REFUSED,
    error: expect.any(Number),
  });
  // The tag stays as it is, and the value has served: it is the current mission that is canceled.
  expect(await send(CANCEL, "Station A", "m-old")).toEqual({ written: ["Operation", "RequestId"], ...done });
  await plc.shows(`Robots.${ROBOT}.Mission.State`, 4);
  // A destination stays until it is written again.
  expect(await send(NAVIGATE, "Station A", "m-old")).toEqual({
    written: ["Operation", "RequestId"],
    ...done,
  });
  const second = await missionNow();
  expect(second).not.toBe(first);
  await plc.shows(`Robots.${ROBOT}.Mission.MissionId`, second);
  expect(await send(CANCEL, "Station B", String(second))).toEqual({ written: all, ...done });
  await plc.shows(`Robots.${ROBOT}.Mission.State`, 4);
  expect(await send(NAVIGATE, "Station B", String(second))).toEqual({
    written: ["Operation", "RequestId"],
    ...done,
  });

  const commands = harness.record(ROBOT).flatMap(({ fact }) => {
    if (fact.what !== "received") return [];
    const request = JSON.stringify(fact.request);
    return [/"destinationId":"([^"]+)"/.exec(request)?.[1] ?? /"missionId":"([^"]+)"/.exec(request)?.[1]];
  });
  expect(commands).toEqual(["Station A", "m-old", first, "Station A", second, "Station B"]);
});
