import { once } from "node:events";
import { createServer } from "node:net";
import { afterEach, expect, test } from "vitest";
import { type Census, openCensus } from "../support/census.ts";

let census: Census | undefined;
const held: unknown[] = [];
afterEach(() => {
  census?.close();
  census = undefined;
  held.length = 0;
});

function open(): Census {
  census = openCensus();
  return census;
}

test("where nothing was left behind, nothing is counted", async () => {
  const { countHeld, unhandled } = open();
  const controller = new AbortController();
  controller.signal.addEventListener("abort", () => {}, { once: true });
  controller.abort();
  clearTimeout(setTimeout(() => {}, 60_000));
  // A timer that has gone off is over, too.
  await new Promise((resolve) => setTimeout(resolve, 1));
  const counted = await countHeld();
  expect(
    Object.values(counted).every((number) => number === 0),
    JSON.stringify(counted),
  ).toBe(true);
  expect(unhandled()).toEqual([]);
});

test("a listener that is left on a signal that somebody holds is counted, one on garbage is not", async () => {
  const { countHeld } = open();
  const controller = new AbortController();
  held.push(controller);
  controller.signal.addEventListener("abort", () => {});
  (() => new AbortController().signal.addEventListener("abort", () => {}))();
  expect(await countHeld()).toMatchObject({ signalListeners: 1 });
});

test("a signal that AbortSignal.any joined to one that lives on is counted", async () => {
  const { countHeld } = open();
  const controller = new AbortController();
  const joined = AbortSignal.any([controller.signal, new AbortController().signal]);
  // Newer versions of Node.js join them when somebody listens.
  joined.addEventListener("abort", () => {});
  held.push(controller, joined);
  expect(await countHeld()).toMatchObject({ joinedSignals: 1 });
});

test("a timer that is left is counted, and where it was made is known", async () => {
  const { countHeld, origins } = open();
  const timer = setTimeout(() => {}, 60_000);
  const interval = setInterval(() => {}, 60_000);
  timer.unref();
  expect(await countHeld()).toMatchObject({ timers: 2 });
  expect(origins().join("\n")).toContain("census.test.ts");
  clearTimeout(timer);
  clearInterval(interval);
  expect(await countHeld()).toMatchObject({ timers: 0 });
});

test("a listener that is left on the process is counted", async () => {
  const { countHeld } = open();
  const listener = () => {};
  process.on("SIGUSR2", listener);
  expect(await countHeld()).toMatchObject({ processListeners: 1 });
  process.off("SIGUSR2", listener);
  expect(await countHeld()).toMatchObject({ processListeners: 0 });
});

test("a server that is left open is counted", async () => {
  const { countHeld } = open();
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  expect(await countHeld()).toMatchObject({ TCPServerWrap: 1 });
  server.close();
  await once(server, "close");
  expect(await countHeld()).toMatchObject({ TCPServerWrap: 0 });
});

test("a rejection that nobody handles is noted for the case it happened in", async () => {
  // The test runner would count it against the whole run.
  const others = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection");
  const { unhandled } = open();
  const noted = once(process, "unhandledRejection");
  void Promise.reject(new Error("planted"));
  await noted;
  for (const other of others) process.on("unhandledRejection", other);
  expect(unhandled().join()).toContain("planted");
});
