import { expect, expectTypeOf, it } from "vitest";
import { createLive, type Live, type Now } from "../../src/platform/live.ts";

interface Limits {
  readonly low: number;
  readonly high: number;
}

it("shows all who read it the next value, and then calls what follows, in order", () => {
  const live = createLive<Limits>({ low: 1, high: 9 });
  const low = live.pick(({ low: part }) => part);
  const seen: string[] = [];
  live.onChange((was, is) => seen.push(`all ${was.low}-${was.high} ${is.low}-${is.high} low ${low.now()}`));
  low.onChange((was, is) => seen.push(`low ${was} ${is}`));
  live.replace({ low: 2, high: 9 });
  live.replace({ low: 2, high: 8 });
  expect(seen).toEqual(["all 1-9 2-9 low 2", "low 1 2", "all 2-9 2-8 low 2"]);
  expect(low.now()).toBe(2);
});

it("gives the same part of the same whole, which is compared by what is in it", () => {
  const live = createLive({ names: ["a"] });
  const names = live.pick((whole) => ({ list: whole.names }));
  const list = names.pick((part) => part.list);
  expect(names.now()).toBe(names.now());
  let changes = 0;
  list.onChange(() => {
    changes += 1;
  });
  live.replace({ names: ["a"] });
  expect(changes).toBe(0);
  live.replace({ names: ["b"] });
  expect([changes, list.now()]).toEqual([1, ["b"]]);
});

it("calls a follower no more that was disposed of, and the others although one fails", () => {
  const failures: unknown[] = [];
  const live = createLive(1, (error) => failures.push(error));
  const seen: number[] = [];
  live.onChange(() => {
    throw new Error("a defect");
  });
  const following = live.onChange((_was, is) => seen.push(is));
  live.replace(2);
  following[Symbol.dispose]();
  live.replace(3);
  expect(seen).toEqual([2]);
  expect(failures).toHaveLength(2);
  const unwatched = createLive(1);
  unwatched.onChange(() => {
    throw new Error("a defect");
  });
  expect(() => unwatched.replace(2)).toThrow("a defect");
});

it("is no value, and a spread gives none of its fields: the type check finds both", () => {
  const live: Live<Limits> = createLive<Limits>({ low: 1, high: 9 });
  expectTypeOf(live).not.toExtend<Limits>();
  expectTypeOf({ ...live }).not.toExtend<Limits>();
  expectTypeOf(live).not.toExtend<Partial<Limits>>();
  // @ts-expect-error a Live has no field of its value
  expect(live.low).toBeUndefined();
  // @ts-expect-error nor can it be taken apart
  const { low } = live;
  expect(low).toBeUndefined();
  // @ts-expect-error a spread does not make the value
  const frozen: Limits = { ...live };
  expect(Object.keys(frozen)).not.toContain("low");
  interface Options {
    readonly base: string;
    readonly limits: Live<Limits>;
  }
  const options: Options = { base: "b", limits: live };
  // @ts-expect-error a copy of options has the same Live, and not its value
  const copied: Now<Options> = { ...options };
  expect(copied.limits).toBe(live);
  expectTypeOf<Now<Options>>().toEqualTypeOf<{ readonly base: string; readonly limits: Limits }>();
});
