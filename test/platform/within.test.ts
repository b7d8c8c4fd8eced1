import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { within } from "../../src/platform/clock.ts";

const forever = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

test("work that is done in time is returned, and leaves nothing behind in a signal that lives on", async () => {
  const { signal } = new AbortController();
  const before = Object.getOwnPropertySymbols(signal).map((symbol) => String(symbol));
  expect(await within(signal, 60_000, async () => 7)).toBe(7);
  await expect(within(signal, 60_000, () => Promise.reject(new Error("wrong")))).rejects.toThrow("wrong");
  expect(getEventListeners(signal, "abort")).toEqual([]);
  expect(Object.getOwnPropertySymbols(signal).map((symbol) => String(symbol))).toEqual(before);
});

test("work that is late is told so, by an error of that name", async () => {
  const { signal } = new AbortController();
  await expect(within(signal, 1, forever)).rejects.toMatchObject({ name: "TimeoutError" });
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("work ends with the signal, with its reason; also when that was aborted before", async () => {
  const controller = new AbortController();
  const work = within(controller.signal, 60_000, forever);
  controller.abort(new Error("the gateway stops"));
  await expect(work).rejects.toThrow("the gateway stops");
  const late = within(controller.signal, 60_000, async (signal) => signal.throwIfAborted());
  await expect(late).rejects.toThrow("the gateway stops");
});
