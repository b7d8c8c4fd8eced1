import { AsyncResource, executionAsyncId } from "node:async_hooks";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { bindWithoutProperty } from "../../src/platform/heap-return.ts";

const FUNCTIONS = 2_000;
/** Far more than vitest itself keeps of each call: 1 kB on Node.js 24. */
const HELD_BY_EACH = 4_000;
const bind = AsyncResource.prototype.bind;
/** Node.js 20, 22 and 24 have it. */
const hasProperty = "asyncResource" in new AsyncResource("test").bind(() => {});

it.runIf(!hasProperty)("nothing is changed where bound functions have no property", () => {
  bindWithoutProperty();
  expect(AsyncResource.prototype.bind).toBe(bind);
});

it.runIf(hasProperty)("what a bound function holds is freed without a full collection", () => {
  setFlagsFromString("--expose-gc");
  // As the gateway runs. V8 would learn from the first measurement, when it has the time, to make the arrays
  // of the second old at once.
  setFlagsFromString("--no-allocation-site-pretenuring");
  const collect = runInNewContext("gc") as (options: { readonly type: "minor" | "major" }) => void;
  const grownBytes = () => {
    collect({ type: "major" });
    const before = oldBytes();
    for (let at = 0; at < FUNCTIONS; at += 1) {
      const held = new Array<number>(HELD_BY_EACH).fill(at);
      new AsyncResource("test").bind(() => held.length)();
    }
    for (let times = 0; times < 3; times += 1) collect({ type: "minor" });
    return oldBytes() - before;
  };
  try {
    const all = FUNCTIONS * HELD_BY_EACH * 4;
    // V8 may begin a full collection by itself meanwhile, which frees all: not each time.
    const grown = Array.from({ length: 5 }, grownBytes);
    expect(Math.max(...grown)).toBeGreaterThan(all / 2);
    bindWithoutProperty();
    expect(grownBytes()).toBeLessThan(all / 10);
  } finally {
    AsyncResource.prototype.bind = bind;
  }
});

it("a bound function runs in its resource's scope, with its arguments and the right `this`", () => {
  bindWithoutProperty();
  try {
    const resource = new AsyncResource("test");
    const self = { name: "self" };
    const run = function (this: unknown, a: number, b: number) {
      return { self: this, sum: a + b, scope: executionAsyncId() };
    };
    const bound = resource.bind(run);
    expect(bound.call(self, 1, 2)).toEqual({ self, sum: 3, scope: resource.asyncId() });
    expect(bound).toHaveLength(2);
    // @ts-expect-error the types do not know of the second argument
    expect(resource.bind(run, self)(3, 4)).toEqual({ self, sum: 7, scope: resource.asyncId() });
    const failing = resource.bind(() => {
      throw new Error("as the function does");
    });
    expect(() => failing()).toThrow("as the function does");
    // @ts-expect-error what is no function cannot be bound
    expect(() => resource.bind("text")).toThrow(TypeError);
  } finally {
    AsyncResource.prototype.bind = bind;
  }
});

function oldBytes(): number {
  return getHeapSpaceStatistics()
    .filter(({ space_name }) => /^(old|large_object)_space$/.test(space_name))
    .reduce((sum, { space_used_size }) => sum + space_used_size, 0);
}
