import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { openStream } from "../../../src/fleet/streams/stream-call.ts";

const WORK_MS = 5;
const MESSAGES = 20;

/** A call of which messages have piled up while the event loop was busy. Each takes the gateway a while. */
function openBusyStream() {
  const wire = new Readable({ objectMode: true, read() {} });
  const client = { makeServerStreamRequest: () => Object.assign(wire, { cancel() {} }) };
  const permit = { client, proven() {}, release() {} } as unknown as Parameters<typeof openStream>[2];
  const taken: number[] = [];
  const call = openStream({ path: "/x", bytes: Buffer.alloc(0) }, "jwt", permit, (bytes) => {
    taken.push(bytes[0] ?? -1);
    const endMs = performance.now() + WORK_MS;
    while (performance.now() < endMs);
  });
  for (let number = 0; number < MESSAGES; number += 1) wire.push(Buffer.of(number));
  return { wire, taken, call };
}

const all = Array.from({ length: MESSAGES }, (_unused, number) => number);

test("messages that have piled up are handed over in order, in turns of a bounded time", async () => {
  const { taken } = openBusyStream();
  let [before, most] = [0, 0];
  while (taken.length < MESSAGES) {
    await nextTurn();
    most = Math.max(most, taken.length - before);
    before = taken.length;
  }
  expect(taken).toEqual(all);
  // Two on a machine with time; after a wait, the share of a turn is 50 ms at most.
  expect(most).toBeLessThanOrEqual(11);
});

test("an ending comes after all that came before it", async () => {
  const { wire, taken, call } = openBusyStream();
  await nextTurn();
  expect(taken.length).toBeLessThan(MESSAGES);
  wire.push(null);
  wire.emit("status", { code: 0, details: "" });
  expect(taken).toEqual(all);
  expect(await call.ended).toMatchObject({ code: "OK" });
});

test("a canceled call hands over nothing more", async () => {
  const { taken, call } = openBusyStream();
  await nextTurn();
  call.cancel();
  const { length } = taken;
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
  expect(taken).toHaveLength(length);
});
