import { EventEmitter } from "node:events";
import { closeSync, openSync } from "node:fs";
import { expect, test } from "vitest";
import { takeCensus } from "../../../bench/soak/census.ts";
import type { Census } from "../../../bench/soak/protocol.ts";
import { abortTasks, onAbort } from "../../../src/platform/on-abort.ts";

class Planted extends EventEmitter {}

const look = (): Census => takeCensus({ waiting: () => [function planted() {}], abortTasks });

function numberOf(counts: Readonly<Record<string, number>>, kind: string): number {
  const found = Object.entries(counts).filter(([name]) => name.startsWith(kind));
  return found.reduce((sum, [, number]) => sum + number, 0);
}

test("listeners, timers and descriptors are counted while somebody holds them", { timeout: 120_000 }, () => {
  const before = look();
  const emitter = new Planted().on("thing", () => {}).on("thing", () => {});
  const { signal } = new AbortController();
  onAbort(signal, () => {});
  const stop = onAbort(signal, () => {});
  const timer = setTimeout(function plantedTimer() {}, 60_000);
  const descriptor = openSync("/dev/null", "r");
  const during = look();
  const more = (what: "listeners" | "timers" | "descriptors", kind: string) =>
    numberOf(during[what], kind) - numberOf(before[what], kind);
  expect(more("listeners", "Planted thing")).toBe(2);
  expect(more("listeners", "AbortSignal tasks")).toBe(2);
  expect(more("timers", "plantedTimer")).toBe(1);
  expect(more("descriptors", "/dev/null")).toBe(1);
  expect(numberOf(during.timers, "planted function planted")).toBe(1);
  emitter.removeAllListeners();
  stop();
  clearTimeout(timer);
  closeSync(descriptor);
  const after = look();
  expect(numberOf(after.listeners, "Planted thing")).toBe(0);
  expect(numberOf(after.timers, "plantedTimer")).toBe(0);
  expect(numberOf(after.descriptors, "/dev/null")).toBe(numberOf(before.descriptors, "/dev/null"));
});
