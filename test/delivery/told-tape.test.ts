import { expect, it } from "vitest";
import type { Batch } from "../../src/contracts/link.ts";
import { createToldTape } from "../../src/delivery/told-tape.ts";
import type { Quality } from "../../src/domain/quality.ts";
import type { TapeParts } from "../../src/platform/recorder/tape.ts";

const change = (robotId: string, quality: Quality) =>
  ({ kind: "robot", robotId, quality, family: "cart" }) as unknown as Batch["changes"][number];
const slice = (...changes: Batch["changes"]): Batch => ({ changes, events: [] });

function tapeOf() {
  const written: TapeParts[] = [];
  const tape = {
    isOn: true,
    segment: 1,
    write: (_kind: string, parts: TapeParts) => void written.push(parts),
  };
  const lines = () =>
    written.splice(0).map(({ name, id, text }) => `${name} ${id} ${text?.(0).trim() ?? ""}`);
  return { tape, lines };
}

it("writes what several northbounds are given once, and the id of that for the others", () => {
  const { tape, lines } = tapeOf();
  const told = createToldTape(tape);
  const [one, two] = [change("r1", "good"), change("r2", "good")];
  for (const name of ["mqtt", "opcua", "api"]) told.tell(name, slice(one, two));
  expect(lines()).toEqual(["mqtt 1 robot/r1 good cart\nrobot/r2 good cart", "opcua 1 ", "api 1 "]);
  // A northbound that lags behind is given something else.
  told.tell("mqtt", slice(two));
  told.tell("opcua", slice(one));
  told.tell("api", slice(one));
  expect(lines()).toEqual(["mqtt 2 robot/r2 good cart", "opcua 3 robot/r1 good cart", "api 3 "]);
});

it("takes an equal change that is another for another, and writes the text anew in each segment", () => {
  const { tape, lines } = tapeOf();
  const told = createToldTape(tape);
  const one = change("r1", "good");
  told.tell("mqtt", slice(one));
  told.tell("opcua", slice(change("r1", "good")));
  tape.segment = 2;
  told.tell("api", slice(change("r1", "good")));
  expect(lines()).toEqual([
    "mqtt 1 robot/r1 good cart",
    "opcua 2 robot/r1 good cart",
    "api 3 robot/r1 good cart",
  ]);
});

it("prepares nothing while the tape is off", () => {
  const { tape, lines } = tapeOf();
  tape.isOn = false;
  createToldTape(tape).tell("mqtt", slice(change("r1", "good")));
  expect(lines()).toEqual([]);
});
