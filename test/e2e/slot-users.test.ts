import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";
import { type E2eHarness, openE2eHarness } from "./e2e-harness.ts";
import { int32, openPlc, type Plc, text } from "./plc.ts";
import { createPageController, type PlcTime, runUntil } from "./plc-controller.ts";

/** Several users at one slot, each with a session of its own, and the service's record of what came of it. */
const numbers = { line1: 11, line2: 12, visitor: 13 } as const;
type User = keyof typeof numbers;
const names = Object.keys(numbers) as User[];
const destinations = { 1: "Station A", 2: "Station B", 3: "Station C" };
const COMMANDS = 15;

let folder: string;
let world: ManualClock;
let harness: E2eHarness;
let plcs: Readonly<Record<User, Plc>>;
const time: PlcTime = { nowMs: 0 };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fleetgate-users-"));
  const passwordFile = (name: string) => join(folder, `${name}.password`);
  for (const name of names) await writeFile(passwordFile(name), `${name} secret`, { mode: 0o600 });
  const user = (name: User) => [
    name,
    { password: passwordFile(name), role: "operator", number: numbers[name] },
  ];
  const rule = (protocol: string, name: string) => ({ source: { protocol, name }, role: "engineer" });
  world = createManualClock(Date.now());
  harness = await openE2eHarness(
    { clock: world, timeFactor: 1 },
    {
      opcua: { destinations, users: Object.fromEntries(names.map(user)) },
      commands: { evidenceMs: 500, settleMs: 100 },
      rights: [
        ...[rule("mqtt", "*"), rule("opcua", "anonymous"), rule("opcua", "line1"), rule("opcua", "line2")],
        { source: { protocol: "opcua", name: "visitor" }, role: "operator", robots: ["cart-01"] },
      ],
    },
  );
  const logOn = (name: User) => openPlc(harness.opcuaUrl, { name, password: `${name} secret` });
  plcs = {
    line1: await logOn("line1"),
    line2: await logOn("line2"),
    visitor: await logOn("visitor"),
  };
}, 90_000);
afterAll(async () => {
  for (const plc of Object.values(plcs)) await plc.close();
  await harness.close();
  await rm(folder, { recursive: true, force: true });
});

const slotOf = (robot: string) => (name: string) => `Robots.${robot}.MissionSlot.${name}`;

/** The requests of an operation that the service was given for a robot. */
function received(robot: string, operation: string): readonly unknown[] {
  return harness
    .record(robot)
    .flatMap(({ fact }) => (fact.what === "received" && fact.operation === operation ? [fact.request] : []));
}

function shownBy(plc: Plc, ...tags: readonly string[]): Promise<unknown[]> {
  return Promise.all(tags.map((tag) => plc.value(tag)));
}

/** Lets the robots drive until this one's mission is over. */
async function arrives(robot: string): Promise<void> {
  const shown = await harness.plc.follow(slotOf(robot)("MissionState"));
  let isOver = false;
  const over = shown
    .first("the end of the mission", ({ value }) => value === 5)
    .finally(() => {
      isOver = true;
    });
  while (!isOver) {
    world.advance(1_000);
    // A round trip: time passes no faster than it is told of.
    await harness.plc.value(slotOf(robot)("MissionState"));
  }
  await over;
}

test("a ticket carries the parameters of its own session, whatever others have written meanwhile", async () => {
  const slot = slotOf("cart-01");
  await harness.plc.shows("Robots.cart-01.ReadyForCommand", true);
  const { line1, line2, visitor } = plcs;
  const good = (count: number) => new Array(count).fill("Good");
  expect(await line1.write([slot("Operation"), int32(1)], [slot("Destination"), text("Station A")])).toEqual(
    good(2),
  );
  expect(await line2.write([slot("Destination"), text("Station C")])).toEqual(good(1));
  // What others have left behind: a second destination, and a mission.
  const leftovers = [
    [slot("DestinationNo"), int32(2)],
    [slot("TargetMissionId"), text("m-9")],
    [slot("Operation"), int32(10)],
  ] as const;
  expect(await visitor.write(...leftovers)).toEqual(good(3));
  const ticket = await line1.nextId(slot("NextId"));
  expect(await line1.write([slot("RequestId"), int32(ticket)])).toEqual(good(1));
  await line2.shows(slot("DoneId"), ticket);
  expect(
    await shownBy(
      line2,
      ...["AcceptedId", "AcceptedBy", "AcceptedByNo", "AcceptedText", "Outcome"].map(slot),
    ),
  ).toEqual([ticket, "line1", 11, "navigate to Station A", 3]);
  const goal = { destinationId: "Station A" };
  expect(received("cart-01", "CreateMission")).toEqual([
    expect.objectContaining({
      robotId: "cart-01",
      mission: { cartMission: { navigateMission: { goal } } },
    }),
  ]);
  expect(received("cart-01", "UpdateMission")).toEqual([]);
});

test("a user whose rights end at another robot changes nothing, also not for the user who is about to send", async () => {
  const slot = slotOf("base-01");
  await harness.plc.shows("Robots.base-01.ReadyForCommand", true);
  const { line1, visitor } = plcs;
  await line1.write([slot("Operation"), int32(1)], [slot("Destination"), text("Home 4")]);
  const ticket = await line1.nextId(slot("NextId"));
  const tags = ["Operation", "Destination", "DestinationNo", "RequestId", "NextId", "AcceptedId"];
  const counts = ["DoneId", "RejectedId", "RejectedError", "Closed"];
  const before = await shownBy(line1, ...[...tags, ...counts].map(slot));
  const array = (value: readonly number[]) =>
    ({
      dataType: "Int32",
      arrayType: "Array",
      value: [...value, ...new Array(12 - value.length).fill(0)],
    }) as const;
  const written = [
    [slot("Operation"), int32(10)],
    [slot("Destination"), text("Station C")],
    [slot("DestinationNo"), int32(2)],
    [slot("RequestId"), int32(ticket)],
  ] as const;
  const denied = (count: number) => new Array(count).fill("BadUserAccessDenied");
  expect(await visitor.write(...written)).toEqual(denied(4));
  expect(await visitor.write([slot("RequestId"), int32(-ticket)])).toEqual(denied(1));
  expect(await visitor.write([slot("Command"), array([ticket, 1, 2])])).toEqual(denied(1));
  expect(await visitor.write([slot("Command"), array([-ticket])])).toEqual(denied(1));
  expect(await visitor.write([slot("CommandText"), text(`${ticket};1;Station C`)])).toEqual(denied(1));
  expect(await shownBy(line1, ...[...tags, ...counts].map(slot))).toEqual(before);

  await line1.write([slot("RequestId"), int32(ticket)]);
  await line1.shows(slot("DoneId"), ticket);
  expect(await shownBy(line1, ...["AcceptedId", "AcceptedBy", "Outcome"].map(slot))).toEqual([
    ticket,
    "line1",
    3,
  ]);
  expect(JSON.stringify(received("base-01", "CreateMission"))).toContain("Home 4");
  expect(received("base-01", "CreateMission")).toHaveLength(1);
  await arrives("base-01");
});

test(`a user without the right writes numbers in a loop: ${COMMANDS} of ${COMMANDS} commands of another are done`, async () => {
  const slot = slotOf("base-01");
  const { line1, visitor } = plcs;
  const controller = createPageController({
    robot: "base-01",
    session: () => line1,
    nowMs: () => time.nowMs,
  });
  await runUntil(controller, time, () => controller.output("CanExecute"));
  const rejected = await harness.plc.follow(slot("RejectedId"));
  const before = received("base-01", "CreateMission").length;

  let isOver = false;
  const statuses = new Map<string, number>();
  const attack = (async () => {
    while (!isOver) {
      const next = await visitor.nextId(slot("NextId"));
      for (const status of [
        ...(await visitor.write([slot("Operation"), int32(10)], [slot("Destination"), text("Station C")])),
        ...(await visitor.write([slot("RequestId"), int32(next)])),
        ...(await visitor.write([slot("RequestId"), int32(-next)])),
      ])
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  })();
  try {
    for (let count = 0; count < COMMANDS; count += 1) {
      await runUntil(controller, time, () => controller.output("Done"), { call: true });
      expect(controller.outcome()).toBe(3);
      await runUntil(controller, time, () => controller.output("CanExecute"));
      await arrives("base-01");
    }
  } finally {
    isOver = true;
    await attack;
  }
  expect(received("base-01", "CreateMission").length - before).toBe(COMMANDS);
  expect([...statuses.keys()]).toEqual(["BadUserAccessDenied"]);
  expect(statuses.get("BadUserAccessDenied")).toBeGreaterThan(4 * COMMANDS);
  // Nothing was voided after the program's own first closing.
  expect(rejected.entries).toHaveLength(1);
}, 120_000);

test("another user's stop goes out while a command runs; the program says LookFirst, and both are audited", async () => {
  const slot = slotOf("cart-02");
  await harness.plc.shows("Robots.cart-02.ReadyForCommand", true);
  const { line1, line2 } = plcs;
  const controller = createPageController({
    robot: "cart-02",
    session: () => line1,
    nowMs: () => time.nowMs,
  });
  await runUntil(controller, time, () => controller.output("CanExecute"));
  // The robot takes the mission, and the service does not answer.
  harness
    .simulator()
    .control.apply({ kind: "command", operation: "CreateMission", effect: "delay-taken", count: 1 });
  const running = await harness.plc.follow("Robots.cart-02.Mission.State");
  const accepted = await harness.plc.follow(slot("AcceptedId"));
  await controller.cycle({ call: true });
  await running.first("a mission", ({ value }) => value === 2);
  await accepted.first("the command", ({ value }) => value !== 0);
  const displaced = accepted.entries.at(-1)?.value;
  await controller.cycle({ call: true });
  expect(controller.output("Busy")).toBe(true);

  const ticket = await line2.nextId(slot("NextId"));
  expect(await line2.write([slot("Operation"), int32(10)], [slot("RequestId"), int32(ticket)])).toEqual([
    "Good",
    "Good",
  ]);
  await line1.shows(slot("DoneId"), ticket);
  expect(await shownBy(line1, ...["AcceptedBy", "AcceptedText", "Outcome"].map(slot))).toEqual([
    "line2",
    expect.stringContaining("cancel"),
    3,
  ]);
  expect(received("cart-02", "UpdateMission")).toHaveLength(1);
  await runUntil(controller, time, () => !controller.output("Busy"), { call: true });
  expect(["Done", "NotSent", "LookFirst"].filter((name) => controller.output(name as "Done"))).toEqual([
    "LookFirst",
  ]);

  world.advance(10_000);
  await vi.waitFor(async () => {
    const lines = (await harness.audit()).filter(({ robot_id }) => robot_id === "cart-02");
    expect(lines.map(({ user, operation }) => [user, operation])).toEqual([
      ["line2", "UpdateMission"],
      ["line1", "CreateMission"],
    ]);
    expect(lines[1]?.request_id).toMatch(new RegExp(`\\.${displaced}$`));
  }, 20_000);
  expect(received("cart-02", "CreateMission")).toHaveLength(1);
});
