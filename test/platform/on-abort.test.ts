import { getEventListeners } from "node:events";
import { expect, it } from "vitest";
import { abortTasks, onAbort } from "../../src/platform/on-abort.ts";

it("calls all that wait, by one listener, once", () => {
  const end = new AbortController();
  const called: number[] = [];
  expect(abortTasks(end.signal)).toBe(0);
  for (const number of [1, 2, 3]) onAbort(end.signal, () => called.push(number));
  expect(getEventListeners(end.signal, "abort")).toHaveLength(1);
  expect(abortTasks(end.signal)).toBe(3);
  end.abort();
  end.abort();
  expect(called).toEqual([1, 2, 3]);
  expect(abortTasks(end.signal)).toBe(0);
});

it("does not call a listener that was removed, and removes one of two equal ones at a time", () => {
  const end = new AbortController();
  let calls = 0;
  const task = () => {
    calls += 1;
  };
  const letGo = onAbort(end.signal, task);
  onAbort(end.signal, task);
  letGo();
  letGo();
  expect(abortTasks(end.signal)).toBe(1);
  end.abort();
  expect(calls).toBe(1);
});

it("leaves no listener when nobody waits any more", () => {
  const { signal } = new AbortController();
  const [first, second] = [onAbort(signal, () => {}), onAbort(signal, () => {})];
  first();
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  second();
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
  onAbort(signal, () => {})();
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

it("does not call a listener that another one has removed", () => {
  const end = new AbortController();
  let calls = 0;
  let letGo = () => {};
  onAbort(end.signal, () => letGo());
  letGo = onAbort(end.signal, () => {
    calls += 1;
  });
  end.abort();
  expect(calls).toBe(0);
});

it("calls at once when the signal is aborted already", () => {
  let calls = 0;
  const letGo = onAbort(AbortSignal.abort(), () => {
    calls += 1;
  });
  letGo();
  expect(calls).toBe(1);
});
