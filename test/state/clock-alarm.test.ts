import { expect, test } from "vitest";
import { silentLog } from "../../src/platform/log.ts";
import { createClockAlarm } from "../../src/state/alarm-conditions.ts";

function alarm() {
  const told: Array<readonly [boolean, string]> = [];
  const confirmed: number[] = [];
  const { note, noteWrong } = createClockAlarm(
    silentLog,
    (active, text) => void told.push([active, text]),
    (aheadMs) => void confirmed.push(aheadMs),
  );
  return { note, noteWrong, told, confirmed };
}

test("more than 2 s are told once, with what to do, and so is the end", () => {
  const { note, told, confirmed } = alarm();
  for (const skewMs of [0, 1_900, 2_000]) note(skewMs);
  // The first look ends an alarm that an earlier run has left.
  expect(told.map(([active]) => active)).toEqual([false]);
  expect(confirmed).toEqual([0, 0, 0]);
  for (const skewMs of [3_600_000, 3_600_100]) note(skewMs);
  expect(told.slice(1)).toEqual([
    [
      true,
      "this machine's clock is 3600 s behind the fleet service's: set it right; until then give commands expires_in_ms, not expires_at",
    ],
  ]);
  expect(confirmed).toEqual([0, 0, 0]);
  note(0);
  expect(told.slice(2)).toEqual([[false, "this machine's clock agrees with the fleet service's again"]]);
});

test("clocks that are just so far apart make no event a second", () => {
  const { note, told } = alarm();
  for (let turn = 0; turn < 10; turn += 1) note(turn % 2 === 0 ? -2_100 : -1_900);
  expect(told).toHaveLength(1);
  expect(told[0]?.[1]).toContain("is 2 s ahead of");
});

test("until the clocks have agreed once, the service's time counts if it is later", () => {
  const { note, confirmed } = alarm();
  for (const skewMs of [-3_600_000, 3_600_000, 3_599_000]) note(skewMs);
  expect(confirmed).toEqual([3_600_000, 3_599_000]);
  note(100);
  note(3_600_000);
  expect(confirmed.slice(2)).toEqual([0]);
});

test("a clock that cannot be right is told without the service, and its end too", () => {
  const { note, noteWrong, told } = alarm();
  for (const problem of [null, "it is 2010", "it is 2010 still", null]) noteWrong(problem);
  expect(told).toEqual([
    [true, "it is 2010"],
    [false, ""],
  ]);
  noteWrong("it is 2010");
  // The service's clock agrees, and both are wrong.
  note(0);
  expect(told.at(-1)).toEqual([true, "it is 2010"]);
});
