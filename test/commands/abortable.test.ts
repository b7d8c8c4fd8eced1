import { getEventListeners } from "node:events";
import { afterEach, beforeEach, expect, it } from "vitest";
import { abortable } from "../../src/commands/intake/intake.ts";
import { type Outcome, refusal } from "../../src/domain/outcome.ts";

const outcome: Outcome = refusal("QUEUE_FULL", "planted");
const warnings: Error[] = [];

function deferred() {
  let resolve: (value: Outcome) => void = () => {};
  const promise = new Promise<Outcome>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
const note = (warning: Error) => void warnings.push(warning);

beforeEach(() => {
  warnings.length = 0;
  process.on("warning", note);
});
afterEach(() => {
  process.off("warning", note);
});

it("a protocol waits for as many commands as it likes with one signal, by one listener", async () => {
  const { signal } = new AbortController();
  const waits = Array.from({ length: 50 }, deferred);
  const seen = waits.map(({ promise }) => abortable(promise, signal));
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  for (const { resolve } of waits) resolve(outcome);
  expect(await Promise.all(seen)).toEqual(waits.map(() => outcome));
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
  // Node tells of a leak at the next turn.
  await new Promise(setImmediate);
  expect(warnings).toEqual([]);
});

it("all who give up with a signal are told why; who has its outcome keeps it", async () => {
  const giveUp = new AbortController();
  const waited = [1, 2].map(() => abortable(new Promise<Outcome>(() => {}), giveUp.signal));
  const ended = abortable(Promise.resolve(outcome), giveUp.signal);
  expect(await ended).toBe(outcome);
  giveUp.abort(new Error("planted"));
  for (const each of waited) await expect(each).rejects.toThrow("planted");
  await expect(abortable(Promise.resolve(outcome), giveUp.signal)).rejects.toThrow("planted");
});
