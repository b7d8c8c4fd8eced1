import { expect, it } from "vitest";
import { removeTickets } from "../../../src/northbound/opcua/opcua-store.ts";
import { createLog } from "../../../src/platform/log.ts";
import { StoreFailed } from "../../../src/platform/store.ts";
import { createChronicle } from "../../support/chronicle.ts";

it("a record of lost tickets that the disk does not remove is logged", async () => {
  const lines = createChronicle<string>((line) => line);
  const log = createLog("info", { write: (line: string) => lines.add(line) });
  const store = {
    range: () => [{ key: "t/Robots.r1.MissionSlot", value: {} }],
    write: () => Promise.reject(new StoreFailed("the disk is full")),
  };
  removeTickets(store, log);
  const line = await lines.first("the failure", (text) => text.includes("cannot be removed"));
  expect(line).toContain("the disk is full");
});
