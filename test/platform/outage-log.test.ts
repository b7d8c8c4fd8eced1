import { expect, it } from "vitest";
import type { Health } from "../../src/platform/component.ts";
import { silentLog } from "../../src/platform/log.ts";
import { logOutages } from "../../src/platform/log-bounds.ts";
import { createManualClock } from "../support/manual-clock.ts";

const MINUTE_MS = 60_000;

it("says every quarter of an hour that a part is down, since when and why, until it is not", async () => {
  const clock = createManualClock();
  const parts: Record<string, Health> = { mqtt: { state: "up" }, fleet: { state: "up" } };
  const lines: Array<readonly [unknown, string]> = [];
  const log = {
    ...silentLog,
    warn: (fields: unknown, message: string) => void lines.push([fields, message]),
  };
  const stopping = new AbortController();
  logOutages({ health: () => parts, clock, log }, stopping.signal);
  await clock.settle(20_000);
  const beganAtMs = clock.nowMs();
  parts.mqtt = { state: "down", detail: "refused" };
  await clock.settle(14 * MINUTE_MS);
  expect(lines).toEqual([]);
  parts.mqtt = { state: "down", detail: "no route" };
  await clock.settle(2 * MINUTE_MS);
  expect(lines).toEqual([
    [expect.objectContaining({ part: "mqtt", minutes: 15, cause: "no route" }), "the part is still down"],
  ]);
  const [[fields] = []] = lines;
  const { since } = fields as { since: string };
  expect(Math.abs(Date.parse(since) - beganAtMs)).toBeLessThanOrEqual(15_000);
  await clock.settle(15 * MINUTE_MS);
  expect(lines).toHaveLength(2);
  expect(lines[1]?.[0]).toMatchObject({ since, minutes: 30 });
  parts.mqtt = { state: "up" };
  await clock.settle(60 * MINUTE_MS);
  expect(lines).toHaveLength(2);
  stopping.abort();
});
