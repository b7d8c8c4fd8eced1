import { expect, test } from "vitest";
import { createCatalogue } from "../../../src/fleet/operations.ts";
import { germanOperations } from "../../../src/northbound/opcua/model/operation-texts.ts";

test("every operation of the service, and no other, is described in German too", () => {
  expect(Object.keys(germanOperations).sort()).toEqual([...createCatalogue().keys()].sort());
});

test("no two operations have the same name in German", () => {
  const names = Object.values(germanOperations).map(({ german }) => german);
  expect(new Set(names).size).toBe(names.length);
});
