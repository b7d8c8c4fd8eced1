import { expect, it } from "vitest";
import type { Batch } from "../../src/contracts/link.ts";
import { createDeliveryTap } from "../../src/delivery/delivery-tap.ts";
import type { Quality } from "../../src/domain/observed.ts";
import type { TapEntry } from "../../src/platform/recorder/recording.ts";

const change = (robotId: string, quality: Quality) =>
  ({ kind: "robot", robotId, quality, family: "cart" }) as unknown as Batch["changes"][number];
const slice = (...changes: Batch["changes"]): Batch => ({ changes, events: [] });

function tapeOf() {
  const written: TapEntry[] = [];
  const tap = {
    isOn: true,
    segment: 1,
    write: (_kind: string, parts: TapEntry) => void written.push(parts),
  };
  const lines = () =>
    written.splice(0).map(({ name, id, text }) => `${name} ${id} ${text?.(0).trim() ?? ""}`);
  return { tap, lines };
}

it("writes what several northbounds are given once, and the id of that for the others", () => {
  const { tap, lines } = tapeOf();
  const published = createDeliveryTap(tap);
  const [one, two] = [change("r1", "good"), change("r2", "good")];
  for (const name of ["mqtt", "opcua", "api"]) published.record(name, slice(one, two));
  expect(lines()).toEqual(["mqtt 1 robot/r1 good cart\nrobot/r2 good cart", "opcua 1 ", "api 1 "]);
  // A northbound that lags behind is given something else.
  published.record("mqtt", slice(two));
  published.record("opcua", slice(one));
  published.record("api", slice(one));
  expect(lines()).toEqual(["mqtt 2 robot/r2 good cart", "opcua 3 robot/r1 good cart", "api 3 "]);
});

it("takes an equal change that is another for another, and writes the text anew in each segment", () => {
  const { tap, lines } = tapeOf();
  const published = createDeliveryTap(tap);
  const one = change("r1", "good");
  published.record("mqtt", slice(one));
  published.record("opcua", slice(change("r1", "good")));
  tap.segment = 2;
  published.record("api", slice(change("r1", "good")));
  expect(lines()).toEqual([
    "mqtt 1 robot/r1 good cart",
    "opcua 2 robot/r1 good cart",
    "api 3 robot/r1 good cart",
  ]);
});

it("prepares nothing while the tape is off", () => {
  const { tap, lines } = tapeOf();
  tap.isOn = false;
  createDeliveryTap(tap).record("mqtt", slice(change("r1", "good")));
  expect(lines()).toEqual([]);
});
