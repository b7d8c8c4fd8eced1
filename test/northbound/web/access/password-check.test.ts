import { expect, it } from "vitest";
import { createPasswordCheck } from "../../../../src/northbound/web/access/password-check.ts";
import type { WebUser } from "../../../../src/northbound/web/options.ts";
import { hashPassword } from "../../../../src/platform/password.ts";

const plain: WebUser = { name: "anna", role: "operator", robots: null, password: "right" };
const hashed: WebUser = { ...plain, name: "ben", password: await hashPassword("right") };

it("compares with a password as it is and with its hash, and never takes an unknown user", async () => {
  const { check } = createPasswordCheck();
  for (const user of [plain, hashed]) {
    expect(await check(user, "right", "a")).toBe(true);
    expect(await check(user, "wrong", "a")).toBe(false);
    expect(await check(user, user.password, "a")).toBe(user === plain);
  }
  expect(await check(undefined, "right", "a")).toBe(false);
});

it("takes as long for an unknown user as for a known one, however its password is kept", async () => {
  const { check } = createPasswordCheck();
  const cases = [
    [hashed, "wrong"],
    [hashed, "right"],
    [plain, "wrong"],
    [plain, "right"],
    [undefined, "wrong"],
  ] as const;
  // The shortest of some tries, in turn: what else runs on the machine only makes a try longer.
  const shortest = cases.map(() => Number.POSITIVE_INFINITY);
  for (let attempt = 0; attempt < 7; attempt += 1) {
    for (const [place, [user, password]] of cases.entries()) {
      const before = performance.now();
      await check(user, password, "a");
      shortest[place] = Math.min(shortest[place] ?? 0, performance.now() - before);
    }
  }
  // Without a hash a comparison takes less than a hundredth.
  expect(Math.max(...shortest)).toBeLessThan(4 * Math.min(...shortest));
});

it("of 10,000 log-ins at once compares four of an address, and ten of all", async () => {
  const { check } = createPasswordCheck();
  const answers = await Promise.all(
    Array.from({ length: 10_000 }, (_, place) => check(hashed, "wrong", place < 9_000 ? "a" : `b${place}`)),
  );
  expect(answers.slice(0, 9_000).filter((answer) => answer !== "busy")).toHaveLength(4);
  expect(answers.slice(9_000).filter((answer) => answer !== "busy")).toHaveLength(6);
  expect(await check(hashed, "right", "a")).toBe(true);
});
