import { expect, test } from "vitest";
import { faultRows, offeredFaults } from "../../../src/console/simulator/faults.ts";
import { faultNames } from "../../../src/northbound/web/api/simulator.ts";

test("each fault of the gateway is offered once", () => {
  expect(offeredFaults.map(({ name }) => name).sort()).toEqual([...faultNames].sort());
});

test("the chosen robot has its rows, and what lasts of others is never hidden", () => {
  const block = { fault: "block", robot_id: "cart-2", active_for_ms: 5 } as const;
  const keysOf = (chosenId: string | null) => faultRows([block], chosenId).map(({ key }) => key);
  const ofService = ["cut/", "silence/"];
  expect(keysOf(null)).toEqual([...ofService, "block/cart-2"]);
  expect(keysOf("cart-1")).toEqual([
    ...ofService,
    "block/cart-1",
    "lost_answer/cart-1",
    "flat_battery/cart-1",
    "block/cart-2",
  ]);
  const chosen = faultRows([block], "cart-2");
  expect(chosen).toHaveLength(5);
  expect(chosen.filter(({ active }) => active !== null)).toEqual([
    expect.objectContaining({ key: "block/cart-2", active: block }),
  ]);
});
