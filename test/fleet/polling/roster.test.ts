import { expect, test } from "vitest";
import type { FleetUpdate } from "../../../src/domain/update.ts";
import { createRoster } from "../../../src/fleet/polling/roster.ts";
import { silentLog } from "../../../src/platform/log.ts";
import { anyIdentifiers } from "../../support/identifiers.ts";
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
    identifiers: anyIdentifiers(),
    read: async () => Buffer.from(answers[rosters.length] ?? ""),
    clock: createManualClock(),
    log: silentLog,
    sink(event: FleetUpdate) {
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
  const told: FleetUpdate[] = [];
  const roster = createRoster({
    identifiers: anyIdentifiers(),
    read: async () => Buffer.from(answers[told.length] ?? ""),
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

test("a listed name that cannot be one, or comes twice, is left out; odd numbers name no chain and no map", async () => {
  const listed = [
    robot(1, "A"),
    { ...robot(1, "B"), id: "9" },
    { ...robot(2, "A"), name: "x".repeat(70_000) },
    { ...robot(3, "A"), name: "" },
    { ...robot(4, "A"), id: "" },
    { ...robot(5, "A"), id: "-5" },
    { ...robot(6, "A"), taskChainId: -1, mapId: -2_147_483_648 },
    { ...robot(7, "A"), taskChainId: 12, mapId: 3 },
    { ...robot(8, "A"), mapId: 1.5 },
  ];
  const identifiers = anyIdentifiers();
  const told: FleetUpdate[] = [];
  const roster = createRoster({
    identifiers,
    read: async () => Buffer.from(JSON.stringify({ robots: listed }).replace('"mapId":1.5', '"mapId":1e999')),
    clock: createManualClock(),
    log: silentLog,
    sink: (event) => void told.push(event),
    knows: () => true,
    amrIds: new Map(),
  });
  await roster.turn();
  expect(told).toMatchObject([
    { kind: "roster", robots: [{ robotId: "r1" }, { robotId: "r6" }, { robotId: "r7" }] },
  ]);
  expect([roster.chainIds(), [...roster.mapIds()]]).toEqual([[12], [3]]);
  expect([roster.malformed, identifiers.refused]).toEqual([3, 4]);
});
