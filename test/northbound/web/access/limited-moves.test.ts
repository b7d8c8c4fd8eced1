import { expect, it } from "vitest";
import type { Envelope, RefusedRequest } from "../../../../src/contracts/commander.ts";
import { limitMoves } from "../../../../src/northbound/web/access/session-routes.ts";
import { createManualClock } from "../../../support/manual-clock.ts";
import { createFakeCommander, fakeCatalogue, succeeded } from "../../opcua/fake-commands.ts";

const source = { protocol: "web", name: "anna" } as const;
const move = { operation: "CreateMission", request: { json: { robotId: "r1" } } };

function harness(movesFrom: readonly string[] | null) {
  const told: RefusedRequest[] = [];
  const commander = createFakeCommander();
  commander.serve({ catalogue: fakeCatalogue(), clock: createManualClock(), refused: () => {} });
  const records = { knows: (_source: unknown, requestId: string) => requestId === "known" };
  const audit = { refused: (request: RefusedRequest) => void told.push(request) };
  const limited = limitMoves({ commander, records, audit, movesFrom: () => movesFrom });
  const submit = (address: string, what: Pick<Envelope, "operation" | "request"> = move, requestId = "c1") =>
    limited.submit({ source, requestId, origin: { address }, ...what }, null);
  return { commander, told, submit };
}

it.each<[string, readonly string[] | null]>([
  ["10.1.2.3", null],
  ["10.1.2.3", ["10.1.2.3"]],
  ["10.1.2.3", ["192.0.2.1", "10.1.0.0/16"]],
  ["::ffff:10.1.2.3", ["10.1.2.0/24"]],
  ["fd00::7", ["10.1.2.0/24", "fd00::/8"]],
  ["fd00::7", ["fd00:0:0::7"]],
])("a robot may be moved from %s by %j", async (address, from) => {
  const { commander, told, submit } = harness(from);
  const outcome = submit(address);
  (await commander.next()).end(succeeded("m1"));
  expect(await outcome).toMatchObject({ outcome: "succeeded" });
  expect(told).toEqual([]);
});

it.each<[string, readonly string[]]>([
  ["10.1.2.3", ["10.1.2.4", "10.2.0.0/16", "fd00::/8"]],
  ["fe80::1%eth0", ["10.1.0.0/16"]],
  ["", ["0.0.0.0/0"]],
])("no robot is moved from %s by %j, and it is audited", async (address, from) => {
  const { told, submit } = harness(from);
  expect(await submit(address)).toMatchObject({
    outcome: "refused",
    code: "NOT_ALLOWED",
    message: `CreateMission moves a robot, and web.commands.from does not name the address ${address}`,
  });
  expect(told).toEqual([
    { source, requestId: "c1", operation: "CreateMission", robotId: "r1", origin: { address } },
  ]);
});

it("takes everything else from everywhere, and tells the outcome of a command that is known", async () => {
  const { commander, submit } = harness(["192.0.2.1"]);
  const answers = [submit("10.1.2.3", { ...move, request: { unreadable: "no JSON" } })];
  expect(await answers[0]).toMatchObject({ code: "MALFORMED" });
  const known = submit("10.1.2.3", move, "known");
  (await commander.next()).end(succeeded("m1"));
  expect(await known).toMatchObject({ outcome: "succeeded" });
});
