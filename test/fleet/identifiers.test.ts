import { expect, test } from "vitest";
import { identifierFault } from "../../src/domain/foreign-text.ts";
import { createIdentifierGate } from "../../src/fleet/identifiers.ts";
import { nodeName } from "../../src/northbound/opcua/robot-register.ts";
import { createLog, silentLog } from "../../src/platform/log.ts";

const anywhere = { kind: "locations", locations: ["site"] } as const;

test("whatever passes fits a key of the store and a topic once it is encoded", () => {
  const longest = [..."x .語\u{1f916}é"].flatMap((character) =>
    [256, 128, 170, 512].map((count) => character.repeat(count)),
  );
  const passing = longest.filter((id) => identifierFault(id) === null);
  expect(passing.length).toBeGreaterThan(8);
  for (const id of passing) {
    expect(Buffer.byteLength(`slots/Robots.${nodeName(id)}.ConveyorSlot`)).toBeLessThan(1_900);
    expect(Buffer.byteLength(id)).toBeLessThanOrEqual(512);
  }
  expect(identifierFault("語".repeat(171))).toBe("is longer than 512 bytes");
  for (const bad of ["\ud800", "a\u2028", "\ufffd", "\ufffe", "\u0085"]) {
    expect(identifierFault(bad)).toBe("has characters that cannot be shown");
  }
});

test("a session for some robots takes messages of no other", () => {
  const gate = createIdentifierGate({ kind: "ids", ids: ["r1"] }, silentLog);
  expect([gate.robot("r1"), gate.robot("r2"), gate.refused]).toEqual([true, false, 1]);
});

test("a service that invents robots is given room for so many and no more", () => {
  const lines: string[] = [];
  const gate = createIdentifierGate(
    anywhere,
    createLog("error", { write: (line) => void lines.push(line) }),
    2,
  );
  expect(["a", "b", "c", "d", "a"].map(gate.robot)).toEqual([true, true, false, false, true]);
  expect(gate.refused).toBe(2);
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ kind: "robot_id", problem: "is of more than 2 robots" });
});

test("numbers are whole, of 32 bits, and not below the first", () => {
  const gate = createIdentifierGate(anywhere, silentLog);
  const odd = [0, -1, 1.5, 2 ** 31, Number.NaN, Number.POSITIVE_INFINITY];
  expect(odd.filter((id) => gate.number("task_chain_id", id))).toEqual([]);
  expect(odd.filter((id) => gate.number("conveyor_index", id))).toEqual([0]);
  expect(gate.number("map_id", 2 ** 31 - 1)).toBe(true);
});
