import { appendFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type LogLine, openEventLog } from "../../../src/delivery/outbox/event-log.ts";
import { countByTurn, slowJson } from "../../support/turn-counts.ts";
import { alarm } from "./outbox-harness.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "event-log-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const event = (number: number): LogLine => ["event", number, [0, "run1", alarm(`e${number} ü`)]];

it("gives the next run what was appended, in order, also without an end", async () => {
  const log = openEventLog(folder);
  expect(await log.read(0)).toEqual([]);
  await log.append([event(1), event(2)]);
  await log.append([["gone", [1]]]);
  log.turn();
  await log.append([["change", { key: "k", value: { a: 1 } }]]);
  const next = openEventLog(folder);
  expect(await next.read(0)).toEqual([
    event(1),
    event(2),
    ["gone", [1]],
    ["change", { key: "k", value: { a: 1 } }],
  ]);
  await log.close();
});

it("ends a file where a line is not as it was written, and reads the next file", async () => {
  const first = openEventLog(folder);
  await first.read(0);
  await first.append([event(1)]);
  await first.close();
  appendFileSync(join(folder, "log-1"), '0 ["event",2]\n');
  const second = openEventLog(folder);
  await second.read(0);
  await second.append([event(3)]);
  await second.close();
  appendFileSync(join(folder, "log-2"), '1x ["gone",[3');
  writeFileSync(join(folder, "log-3"), Buffer.alloc(4_096));
  expect(await openEventLog(folder).read(0)).toEqual([event(1), event(3)]);
});

it("reads no file that the store has taken over, and never uses its number again", async () => {
  const log = openEventLog(folder);
  await log.read(0);
  await log.append([event(1)]);
  const upTo = log.turn();
  await log.append([event(2)]);
  await log.close();
  const next = openEventLog(folder);
  expect(await next.read(upTo)).toEqual([event(2)]);
  await next.append([event(3)]);
  await next.remove(upTo + 1);
  await next.close();
  expect(readdirSync(folder)).toEqual(["log-3"]);
  expect(await openEventLog(folder).read(upTo + 1)).toEqual([event(3)]);
});

it("writes many lines in several turns, also into a file that begins meanwhile", async () => {
  using turns = countByTurn();
  const log = openEventLog(folder);
  await log.append([event(1)]);
  const lines = Array.from(
    { length: 30 },
    (_, n): LogLine => ["change", { key: `k${n}`, value: slowJson(turns) }],
  );
  const appended = log.append(lines);
  log.turn();
  await appended;
  expect(turns.counts.length).toBeGreaterThan(1);
  const read = await openEventLog(folder).read(0);
  expect(read).toEqual([event(1), ...lines.map((_, n) => ["change", { key: `k${n}`, value: "slow" }])]);
  await log.close();
});
