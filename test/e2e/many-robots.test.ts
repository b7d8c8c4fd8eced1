import { afterAll, beforeAll, expect, it } from "vitest";
import { type E2eHarness, openE2eHarness } from "./e2e-harness.ts";

const ROBOTS = 5_000;
/** How long a start may take before the service is ready (src/composition/components.ts). */
const START_LIMIT_MS = 60_000;
let harness: E2eHarness;

beforeAll(async () => {
  const names = Array.from({ length: ROBOTS }, (_unused, index) => `amr-${index}`);
  harness = await openE2eHarness(
    {},
    { opcua: { robots: Object.fromEntries(names.map((name) => [name, {}])) } },
  );
}, START_LIMIT_MS);
afterAll(() => harness.close());

it("a gateway of 5,000 robots is ready before it has built their nodes, and lacks none", async () => {
  const missing = Number(await harness.plc.value("Robots.NodesMissing"));
  expect(missing).toBeGreaterThan(ROBOTS / 2);
  expect(await harness.plc.value(`Robots.amr-${ROBOTS - 1}.RobotId`)).toBe(`amr-${ROBOTS - 1}`);
  expect(await harness.plc.nextId(`Robots.amr-${ROBOTS - 1}.MissionSlot.NextId`)).toBeGreaterThan(0);
  const unknown = await harness.plc.read(`Robots.amr-${ROBOTS}.RobotId`);
  expect(unknown.status).toBe("BadNodeIdUnknown");
});
