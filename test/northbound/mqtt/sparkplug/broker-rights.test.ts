import { afterEach, describe, expect, test } from "vitest";
import { createManualClock } from "../../../support/manual-clock.ts";
import { haveMosquitto, startMosquitto } from "../mosquitto.ts";
import { external } from "../mqtt-harness.ts";
import { newNode, robotChange } from "./sparkplug-harness.ts";

const cleanups: Array<() => Promise<unknown> | unknown> = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** An edge node at a broker that has these rules for its user, born. */
async function bornWith(rules: string, protocolVersion: 4 | 5) {
  const mosquitto = await startMosquitto({ rules: `user fleetgate\n${rules}`, users: ["fleetgate"] });
  cleanups.push(() => mosquitto.stop());
  const clock = createManualClock();
  const broker = { ...external(mosquitto.url), username: "fleetgate", password: "fleetgate" };
  const link = newNode({ options: { broker, protocolVersion }, clock });
  const connection = await link.connect(new AbortController().signal);
  cleanups.push(() => connection[Symbol.asyncDispose]());
  await connection.write({ changes: [robotChange("r1")], events: [] });
  return { link, clock };
}

const LOST =
  "its own NBIRTH does not come back: the broker may forbid the gateway to publish spBv1.0/plant/NBIRTH/fleet, and then hosts see nothing, or only to read it";

describe.skipIf(!haveMosquitto).each([4, 5] as const)("MQTT %s", (protocolVersion) => {
  test("health says that the own birth does not come back", async () => {
    const { link, clock } = await bornWith("topic readwrite fleetgate/#\n", protocolVersion);
    expect(link.health().state).toBe("up");
    clock.advance(20_000);
    expect(link.health()).toMatchObject({ state: "degraded", detail: LOST });
  });

  test("health is up with the rights of the page", async () => {
    const rules = "topic readwrite spBv1.0/plant/+/fleet\ntopic readwrite spBv1.0/plant/+/fleet/#\n";
    const { link, clock } = await bornWith(rules, protocolVersion);
    clock.advance(20_000);
    await expect.poll(() => link.health().state).toBe("up");
  });
});
