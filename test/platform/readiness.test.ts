import { expect, it } from "vitest";
import { createReadiness } from "../../src/platform/liveness.ts";

it("serves from the moment when all is open until it closes", () => {
  const readiness = createReadiness();
  expect(readiness.problem()).toContain("starts");
  readiness.opened();
  expect(readiness.problem()).toBeNull();
  readiness.closing();
  expect([readiness.problem(), readiness.stopping.aborted]).toEqual(["it stops", true]);
});
