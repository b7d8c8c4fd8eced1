import { expect, test } from "vitest";
import type { FleetEvent } from "../../../src/domain/event.ts";
import { createRoster } from "../../../src/fleet/polling/roster.ts";
import { silentLog } from "../../../src/platform/log.ts";
import { createManualClock } from "../../support/manual-clock.ts";

const robot = (id: number, pos: string) => ({ id: String(id), name: `r${id}`, pos, taskChainId: 0 });

test("a robot that is listed as before keeps its Presence, the same object, wherever it is listed", async () => {
  const answers = [
    [robot(1, "A"), robot(2, "A")],
    [robot(2, "A"), robot(1, "B")],
    [robot(2, "A"), robot(1, "B"), { id: "no number", name: "r3" }],
  ].map((robots) => JSON.stringify({ robots }));
  const rosters: Array<Map<string, unknown>> = [];
  const roster = createRoster({
    read: async () => answers[rosters.length] ?? "",
    clock: createManualClock(),
    log: silentLog,
    sink(event: FleetEvent) {
      if (event.kind !== "roster") return;
      rosters.push(new Map(event.robots.map(({ robotId, presence }) => [robotId, presence])));
    },
    knows: () => true,
    amrIds: new Map(),
  });
  for (const _ of answers) await roster.turn();
  const [first, second, third] = rosters;
  expect(second?.get("r2")).toBe(first?.get("r2"));
  expect(second?.get("r1")).not.toBe(first?.get("r1"));
  expect(second?.get("r1")).toMatchObject({ position: "B" });
  expect(third?.get("r1")).toBe(second?.get("r1"));
  expect(roster.malformed).toBe(1);
});

test("a robot whose record cannot be read is listed all the same: nobody takes it for absent", async () => {
  const answers = [
    [robot(1, "A"), robot(2, "A"), robot(3, "A")],
    [robot(1, "A"), { id: "2", name: "r2", pos: 7 }, { id: 3, name: null, pos: {} }, "nonsense"],
    [robot(1, "A"), robot(2, "B")],
  ].map((robots) => JSON.stringify({ robots }));
  const told: FleetEvent[] = [];
  const roster = createRoster({
    read: async () => answers[told.length] ?? "",
    clock: createManualClock(),
    log: silentLog,
    sink: (event) => void told.push(event),
    knows: () => true,
    amrIds: new Map([["r3", 3]]),
  });
  for (const _ of answers) await roster.turn();
  const shown = told.map((event) =>
    event.kind === "roster" ? [event.robots.map(({ robotId }) => robotId), event.unread] : [],
  );
  expect(shown).toEqual([
    [["r1", "r2", "r3"], undefined],
    [["r1"], ["r2", "r3"]],
    [["r1", "r2"], undefined],
  ]);
});
