import { expect, test } from "vitest";
import { createCatalogue } from "../../../src/fleet/operations.ts";
import { germanOperations } from "../../../src/northbound/opcua/model/operation-texts.ts";

test("every operation of the service, and no other, is described in German too", () => {
  expect(Object.keys(germanOperations).sort()).toEqual([...createCatalogue().keys()].sort());
});
