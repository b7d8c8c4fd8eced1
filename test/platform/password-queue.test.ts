import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { createPasswordQueue } from "../../src/platform/password.ts";

/** Comparisons that end when the test says so, in the order in which they began. */
function harness() {
  const queue = createPasswordQueue();
  const begun: string[] = [];
  let end: () => void = () => {};
  return {
    begun,
    ask(name: string, address: string, user: string | null, isThere = true): Promise<string> {
      return queue.take({ address, user, isThere: () => isThere }, () => {
        begun.push(name);
        return new Promise<string>((resolve) => {
          end = () => resolve(name);
        });
      });
    },
    async endOne() {
      end();
      await turn();
    },
  };
}

it("compares one at a time, and users at addresses take turns; unknown names are one user", async () => {
  const { ask, begun, endOne } = harness();
  for (let count = 0; count < 10; count += 1) {
    void ask(`flood ${count}`, "a", null);
    void ask(`other flood ${count}`, "b", null);
  }
  const right = ask("right", "c", "anna");
  const beside = ask("beside", "a", "anna");
  await turn();
  expect(begun).toEqual(["flood 0"]);
  for (let count = 0; count < 5; count += 1) await endOne();
  expect([await right, await beside]).toEqual(["right", "beside"]);
  expect(begun).toEqual(["flood 0", "other flood 0", "flood 1", "right", "beside", "other flood 1"]);
});

it("of too many that wait, the oldest of the user and address with most gives way", async () => {
  const { ask, endOne } = harness();
  const answers: string[] = [];
  const right = ask("right", "b", "anna");
  for (let count = 0; count < 100; count += 1)
    void ask(`flood ${count}`, "a", null).then((answer) => answers.push(answer));
  await turn();
  expect(answers).toHaveLength(100 - 40);
  expect(new Set(answers)).toEqual(new Set(["busy"]));
  await endOne();
  expect(await right).toBe("right");
});

it("leaves out a client that is gone, and goes on after a comparison that fails", async () => {
  const queue = createPasswordQueue();
  const of = (isThere: boolean) => ({ address: "a", user: "anna", isThere: () => isThere });
  const gone = queue.take(of(false), async () => "compared");
  const broken = queue.take(of(true), () => {
    throw new Error("broken");
  });
  const after = queue.take(of(true), async () => "compared");
  expect(await gone).toBe("busy");
  await expect(broken).rejects.toThrow("broken");
  expect(await after).toBe("compared");
});
