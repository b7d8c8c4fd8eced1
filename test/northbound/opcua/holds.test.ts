import { AttributeIds, StatusCodes } from "node-opcua";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RefusedRequest } from "../../../src/contracts/commander.ts";
import type { StateChange } from "../../../src/domain/change.ts";
import type { Outcome } from "../../../src/domain/outcome.ts";
import type { OpcUaUser } from "../../../src/northbound/opcua/options.ts";
import { createFakeHolds, type FakeHolds } from "../../support/fake-holds.ts";
import { robotChange } from "./changes.ts";
import {
  accountsOf,
  type Caller,
  opcUaOptions,
  openSession,
  type RunningServer,
  startServer,
} from "./opcua-harness.ts";
import { int32, text } from "./slots-harness.ts";

/** ann is an operator of another robot alone. */
const rules = [
  ...["bob", "eva", "tv"].map((name) => ({ source: { protocol: "opcua", name }, role: "engineer" }) as const),
  { source: { protocol: "opcua", name: "ann" }, role: "operator", robots: ["r9"] },
] as const;
const on = { dataType: "Boolean", value: true } as const;
const off = { dataType: "Boolean", value: false } as const;

function user(name: string, role: OpcUaUser["role"]): OpcUaUser {
  return { name, role, number: null, secret: { kind: "plain", text: "pw" } };
}

const cleanups: Array<() => Promise<unknown>> = [];
let holds: FakeHolds;
let running: RunningServer;
let refused: Array<RefusedRequest & Pick<Outcome, "code" | "message">> = [];

beforeEach(async () => {
  holds = createFakeHolds();
  refused = [];
  const robots = [{ robotId: "r1", alias: "AMR01", number: 7, family: "cart", conveyorIndexes: [] }] as const;
  const users = [
    user("ann", "operator"),
    user("bob", "operator"),
    user("eva", "engineer"),
    user("tv", "observer"),
  ];
  running = await startServer(
    { robots, users },
    {
      holds,
      userRights: { rules, accounts: accountsOf(opcUaOptions({ users })) },
      random: () => 0.5,
      audit: {
        refused: (request, { code, message }) => void refused.push({ ...request, code, message }),
      },
    },
  );
  running.server.write({ changes: [robotChange("r1", "good")], events: [] });
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  await running.stop();
});

async function session(name: string): Promise<Caller> {
  const caller = await openSession(running.url, { user: { name, password: "pw" } });
  cleanups.push(caller.close);
  return caller;
}

/** What the gateway tells its northbounds when something else holds the robot. */
function tell(): void {
  const changes: StateChange[] = [
    { kind: "hold_all", hold: holds.holdState(null) },
    { kind: "hold", robotId: "r1", hold: holds.holdState("r1") },
  ];
  running.server.write({ changes, events: [] });
}

const shown = (caller: Caller, ...names: string[]) => Promise.all(names.map((name) => caller.value(name)));

describe("the tag Hold", () => {
  it("holds the robot for the user that writes TRUE, until that user writes FALSE", async () => {
    const bob = await session("bob");
    const robot = ["Hold", "Held", "HoldStored", "ReadyForCommand"].map((name) => `Robots.AMR01.${name}`);
    expect(await shown(bob, ...robot)).toEqual([false, false, true, true]);
    expect(await bob.write(["Robots.AMR01.Hold", on])).toEqual([StatusCodes.Good]);
    expect(holds.asked).toEqual([
      { source: { protocol: "opcua", name: "bob" }, robotId: "r1", isHeld: true },
    ]);
    tell();
    expect(await shown(bob, ...robot)).toEqual([true, true, true, false]);
    expect(await shown(bob, "Robots.AMR01.NotReadyReason")).toEqual(["held by opcua:bob"]);
    expect(await bob.value("Robots.AMR01.HeldBy")).toEqual(["opcua:bob", "", "", "", "", "", "", ""]);
    holds.isStored = false;
    expect(await bob.write(["Robots.AMR01.Hold", off])).toEqual([StatusCodes.Good]);
    tell();
    expect(await shown(bob, ...robot)).toEqual([false, false, false, true]);
  });

  it("holds all robots under Gateway, and shows it at each", async () => {
    const bob = await session("bob");
    expect(await bob.write(["Gateway.Hold", on])).toEqual([StatusCodes.Good]);
    tell();
    expect(
      await shown(bob, "Gateway.Hold", "Gateway.Held", "Robots.AMR01.Held", "Robots.AMR01.Hold"),
    ).toEqual([true, true, true, false]);
    expect(((await bob.value("Robots.AMR01.HeldBy")) as string[])[0]).toBe("opcua:bob (all)");
    expect(((await bob.value("Gateway.HeldBy")) as string[])[0]).toBe("opcua:bob");
  });

  it("BadUserAccessDenied: a user without the right changes nothing; the same refusal is audited once", async () => {
    const ann = await session("ann");
    for (let cycle = 0; cycle < 3; cycle += 1) {
      expect(await ann.write(["Robots.AMR01.Hold", on])).toEqual([StatusCodes.BadUserAccessDenied]);
    }
    expect(await shown(ann, "Robots.AMR01.Hold", "Robots.AMR01.Held")).toEqual([false, false]);
    expect(refused).toMatchObject([
      { operation: "Hold", source: { name: "ann" }, robotId: "r1", code: "NOT_ALLOWED" },
    ]);
    const tv = await session("tv");
    expect(await tv.write(["Robots.AMR01.Hold", on], ["Gateway.Hold", on])).toEqual([
      StatusCodes.BadUserAccessDenied,
      StatusCodes.BadUserAccessDenied,
    ]);
    expect(holds.holdState("r1").isHeld).toBe(false);
  });

  it("takes Booleans only", async () => {
    const bob = await session("bob");
    expect(await bob.write(["Robots.AMR01.Hold", int32(1)], ["Gateway.HoldRelease", on])).toEqual([
      StatusCodes.BadTypeMismatch,
      StatusCodes.BadTypeMismatch,
    ]);
    expect(holds.asked).toEqual([]);
  });
});

describe("the tag HoldRelease", () => {
  it("lifts the hold of the user that it names, for an engineer", async () => {
    const bob = await session("bob");
    const eva = await session("eva");
    await bob.write(["Robots.AMR01.Hold", on], ["Gateway.Hold", on]);
    expect(await eva.write(["Robots.AMR01.HoldRelease", text("opcua:bob")])).toEqual([StatusCodes.Good]);
    expect(holds.holdState("r1").by).toEqual(["opcua:bob (all)"]);
    expect(await eva.write(["Gateway.HoldRelease", text("opcua:bob")])).toEqual([StatusCodes.Good]);
    expect(holds.holdState("r1").by).toEqual([]);
    expect(await eva.value("Gateway.HoldRelease")).toBe("opcua:bob");
  });

  it("refuses the name of a user that does not hold the robot; an empty one is no name", async () => {
    const eva = await session("eva");
    expect(
      await eva.write(["Gateway.HoldRelease", text("opcua:bob")], ["Gateway.HoldRelease", text("")]),
    ).toEqual([StatusCodes.BadInvalidArgument, StatusCodes.Good]);
    expect(await eva.value("Gateway.HoldRelease")).toBe("");
  });

  it("BadUserAccessDenied: nobody but an engineer lifts another's", async () => {
    const bob = await session("bob");
    await bob.write(["Robots.AMR01.Hold", on]);
    expect(await bob.write(["Robots.AMR01.HoldRelease", text("opcua:bob")])).toEqual([
      StatusCodes.BadUserAccessDenied,
    ]);
    expect(refused).toMatchObject([
      {
        operation: "Hold",
        code: "NOT_ALLOWED",
        message:
          'opcua "bob" may not send the end of another\'s hold, which needs engineer: opcua.users.bob.role makes it operator',
      },
    ]);
    expect(holds.holdState("r1").isHeld).toBe(true);
  });
});

it("shows names that no STRING of a PLC takes in part, and lifts them by what is shown", async () => {
  const eva = await session("eva");
  const long = `mqtt:${"ü".repeat(200)}`;
  holds.hold({ source: { protocol: "mqtt", name: "ü".repeat(200) }, robotId: "r1", isHeld: true });
  tell();
  const [name = ""] = (await eva.value("Robots.AMR01.HeldBy")) as string[];
  expect(long.startsWith(name.slice(0, -1))).toBe(true);
  expect(Buffer.byteLength(name)).toBeLessThanOrEqual(254);
  expect(await eva.write(["Robots.AMR01.HoldRelease", text(name)])).toEqual([StatusCodes.Good]);
  expect(holds.holdState("r1").isHeld).toBe(false);
});

describe("UserAccessLevel", () => {
  it("says of HoldRelease that engineers alone write it, and of Hold that operators do too", async () => {
    const levels = async (name: string) => {
      const { session: client } = await session(name);
      const tags = ["Robots.AMR01.Hold", "Robots.AMR01.HoldRelease", "Gateway.HoldRelease"];
      const nodes = tags.map((tag) => ({
        nodeId: `ns=2;s=${tag}`,
        attributeId: AttributeIds.UserAccessLevel,
      }));
      return (await client.read(nodes)).map(({ value }) => value.value);
    };
    expect(await levels("bob")).toEqual([3, 1, 1]);
    expect(await levels("eva")).toEqual([3, 3, 3]);
  });
});
