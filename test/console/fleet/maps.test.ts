import { signal } from "@preact/signals";
import { describe, expect, it } from "vitest";
import type { Answer } from "../../../src/console/api.ts";
import type { Fleet } from "../../../src/console/fleet/fleet.ts";
import { createMapStore } from "../../../src/console/fleet/maps.ts";
import type { FleetMap } from "../../../src/northbound/web/api/floor.ts";

const summary = (mapId: number, readAt: string) => ({
  map_id: mapId,
  name: null,
  read_at: readAt,
  bytes: 10,
});

/** A fleet of which only the maps count. */
function fleetWith(...maps: ReadonlyArray<ReturnType<typeof summary>>): Fleet {
  return { maps: new Map(maps.map((each) => [each.map_id, each])) } as unknown as Fleet;
}

function mapOf(mapId: number, readAt: string, alias: string): FleetMap {
  const point = { id: 1, code: "P1", alias, x: 0, y: 0, theta: 0, type: 1 };
  return { ...summary(mapId, readAt), points: [point] };
}

describe("the maps of the page", () => {
  function open() {
    const fleet = signal<Fleet | null>(null);
    const asked: Array<{ mapId: number; answer: (answer: Answer<FleetMap>) => void }> = [];
    const maps = createMapStore(fleet, (mapId) => new Promise((answer) => asked.push({ mapId, answer })));
    return { fleet, asked, maps };
  }

  it("are read once for each reading of the gateway, and name their points", async () => {
    const { fleet, asked, maps } = open();
    fleet.value = fleetWith(summary(1, "a"), summary(2, "a"));
    fleet.value = fleetWith(summary(1, "a"), summary(2, "a"));
    expect(asked.map(({ mapId }) => mapId)).toEqual([1, 2]);
    asked[0]?.answer({ value: mapOf(1, "a", "Station A") });
    await expect.poll(() => maps.nameOf(1, "P1")).toBe("Station A");
    expect([maps.nameOf(2, "P1"), maps.nameOf(1, "P2")]).toEqual(["P1", "P2"]);
  });

  it("keep the newer answer, and the older names while a new one fails", async () => {
    const { fleet, asked, maps } = open();
    fleet.value = fleetWith(summary(1, "a"));
    fleet.value = fleetWith(summary(1, "b"));
    asked[1]?.answer({ value: mapOf(1, "b", "Dock") });
    asked[0]?.answer({ value: mapOf(1, "a", "Old dock") });
    await expect.poll(() => maps.nameOf(1, "P1")).toBe("Dock");
    fleet.value = fleetWith(summary(1, "c"));
    asked[2]?.answer({ problem: "the gateway is not reached" });
    await expect.poll(() => maps.known.value.get(1)?.problem).toMatch(/could not be read/);
    expect(maps.nameOf(1, "P1")).toBe("Dock");
  });

  it("are forgotten with the user who may see them", async () => {
    const { fleet, asked, maps } = open();
    fleet.value = fleetWith(summary(1, "a"));
    asked[0]?.answer({ value: mapOf(1, "a", "Dock") });
    await expect.poll(() => maps.nameOf(1, "P1")).toBe("Dock");
    fleet.value = null;
    expect(maps.known.value.size).toBe(0);
  });
});
