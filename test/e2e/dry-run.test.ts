import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type E2eHarness, openE2eHarness } from "./e2e-harness.ts";
import { openPlc, type Plc, text } from "./plc.ts";

/** A user whose commands are checked only, beside one whose commands are sent. */
let folder: string;
let harness: E2eHarness;
let trainee: Plc;
const ROBOT = "cart-01";
const [SUCCEEDED, REFUSED, CHECKED] = [3, 4, 8] as const;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fleetgate-dry-run-"));
  const password = join(folder, "password");
  await writeFile(password, "secret", { mode: 0o600 });
  harness = await openE2eHarness(
    { timeFactor: 20 },
    {
      opcua: { users: { trainee: { password, role: "operator", dryRun: true } } },
      stations: { Dock: { destinations: ["Station A"], heartbeatMs: 60_000 } },
    },
  );
  trainee = await openPlc(harness.opcuaUrl, { name: "trainee", password: "secret" });
  await harness.plc.shows(`Robots.${ROBOT}.ReadyForCommand`, true);
});
afterAll(async () => {
  await trainee.close();
  await harness.close();
  await rm(folder, { recursive: true, force: true });
});

/** Sends a text through a slot as this user, and waits for its end. */
async function send(plc: Plc, path: string, words: string): Promise<readonly unknown[]> {
  const ticket = await plc.nextId(`${path}.NextId`);
  await plc.write([`${path}.CommandText`, text(`${ticket};${words}`)]);
  await plc.shows(`${path}.DoneId`, ticket);
  const names = ["Outcome", "ErrorId", "AcceptedText", "ErrorText"];
  return Promise.all(names.map((name) => plc.value(`${path}.${name}`)));
}

const slot = `Robots.${ROBOT}.MissionSlot`;
const sentCount = () =>
  harness.record(ROBOT).filter(({ fact }) => fact.what === "received" && !/^(Get|Sub)/.test(fact.operation))
    .length;

test("a dry run checks all, sends nothing, and says so", async () => {
  const before = sentCount();
  const nothing = "dry run: nothing was sent";
  expect(await send(trainee, slot, "1;Station A")).toEqual([
    CHECKED,
    0,
    "dry run: navigate to Station A",
    nothing,
  ]);
  expect(await send(trainee, slot, "5;Station A")).toEqual([
    REFUSED,
    1000,
    "",
    "dry run: Operation 5 is for serve robots, and this is a cart robot",
  ]);
  expect(await send(trainee, slot, "15")).toEqual([CHECKED, 0, "dry run: pause the robot now", nothing]);
  expect(await send(trainee, "Stations.Dock.Slot", `50;${ROBOT}`)).toEqual([
    CHECKED,
    0,
    `dry run: ${ROBOT}: take the lease`,
    `${nothing}; leases are not tried`,
  ]);
  expect(await trainee.value("Stations.Dock.Slot.Leased")).toBe(false);
  await harness.plc.write([`Robots.${ROBOT}.Hold`, { dataType: "Boolean", value: true }]);
  await harness.plc.shows(`Robots.${ROBOT}.Held`, true);
  expect(await send(trainee, slot, "1;Station A")).toEqual([
    REFUSED,
    1021,
    "dry run: navigate to Station A",
    `dry run: opcua:anonymous holds robot ${ROBOT}`,
  ]);
  await harness.plc.write([`Robots.${ROBOT}.Hold`, { dataType: "Boolean", value: false }]);
  await harness.plc.shows(`Robots.${ROBOT}.Held`, false);
  expect(sentCount()).toBe(before);
  const audited = async () => (await harness.audit()).filter(({ user }) => user === "trainee");
  await expect
    .poll(async () => (await audited()).map(({ outcome }) => outcome))
    .toEqual(["refused", "refused"]);
  // Another user's commands through the same slot go out.
  expect(await send(harness.plc, slot, "1;Station A")).toEqual([SUCCEEDED, 0, "navigate to Station A", ""]);
  expect(sentCount()).toBe(before + 1);
});
