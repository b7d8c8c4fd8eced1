import fc from "fast-check";
import { expect, it } from "vitest";
import { shareAmongUsers } from "../../../src/northbound/opcua/node-opcua/user-shares.ts";
import type { OpcUaUser } from "../../../src/northbound/opcua/options.ts";
import { createLive } from "../../../src/platform/live.ts";

const user = (name: string, role: OpcUaUser["role"]): OpcUaUser => ({
  name,
  role,
  number: null,
  secret: { kind: "plain", text: "x" },
});
const capacity = { total: 20, perUser: 15, ofCommander: 4, ofReader: 1 };
const users = [user("eyes", "observer"), user("ears", "observer"), user("hands", "operator")];
const shares = shareAmongUsers({ users: createLive(users), insecureLoopback: null }, capacity);

function fill(name: string, open: Map<string, number>): number {
  for (let count = 0; ; count += 1) {
    if (!shares.hasRoom(name, open)) return count;
    open.set(name, (open.get(name) ?? 0) + 1);
  }
}

it("a user has at most its bound, and every other still has its own", () => {
  const open = new Map<string, number>();
  expect(fill("eyes", open)).toBe(15);
  expect(fill("ears", open)).toBe(1);
  expect(fill("hands", open)).toBe(4);
  expect(fill("eyes", open)).toBe(0);
});

it("in any order of arrival, there are never too many sessions, and no user lacks its own", () => {
  const own = new Map([
    ["eyes", 1],
    ["ears", 1],
    ["hands", 4],
  ]);
  const steps = fc.array(fc.record({ name: fc.constantFrom(...own.keys()), isLeaving: fc.boolean() }), {
    maxLength: 200,
  });
  fc.assert(
    fc.property(steps, (sequence) => {
      const open = new Map<string, number>();
      for (const { name, isLeaving } of sequence) {
        const mine = open.get(name) ?? 0;
        if (isLeaving) open.set(name, Math.max(0, mine - 1));
        else if (shares.hasRoom(name, open)) open.set(name, mine + 1);
        else expect(mine).toBeGreaterThanOrEqual(own.get(name) ?? 0);
        expect([...open.values()].reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(20);
      }
    }),
  );
});

it("more users than places leave nothing that is kept, and somebody still gets in", () => {
  const many = Array.from({ length: 50 }, (_, index) => user(`u${index}`, "operator"));
  const crowded = shareAmongUsers(
    { users: createLive(many), insecureLoopback: { role: "observer" } },
    capacity,
  );
  expect(crowded.hasRoom("u1", new Map())).toBe(true);
  expect(crowded.hasRoom("u1", new Map([["u2", 20]]))).toBe(false);
});
