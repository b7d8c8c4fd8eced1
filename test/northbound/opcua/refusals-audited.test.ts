import { DataType, StatusCodes } from "node-opcua";
import { expect, it } from "vitest";
import type { RefusalAudit } from "../../../src/contracts/commander.ts";
import { refusal } from "../../../src/domain/outcome.ts";
import type { OpcUaUser } from "../../../src/northbound/opcua/options.ts";
import { noStations, openSession, startServer } from "./opcua-harness.ts";
import { int32, text } from "./slots-harness.ts";

const operator: OpcUaUser = {
  name: "line",
  role: "operator",
  number: null,
  secret: { kind: "plain", text: "line secret" },
};
const observer: OpcUaUser = { ...operator, name: "scada", role: "observer" };
const accounts = [operator, observer].map(({ name, role }) => ({
  source: { protocol: "opcua", name } as const,
  role,
  key: `opcua.users.${name}.role`,
}));
const robots = [{ robotId: "r1", alias: "AMR01", family: "cart", number: 7, conveyorIndexes: [] }] as const;

const stations = { ...noStations, ask: async () => refusal("LEASE_HELD", "station labels leases it") };

it("the audit log has who was refused by role, and what a method or a slot refused by itself", async () => {
  const told: unknown[] = [];
  const audit: RefusalAudit = {
    refused: ({ source, requestId, operation, robotId, origin }, { code, message }) =>
      void told.push([source.name, requestId, operation, robotId, origin?.address, code, message]),
  };
  const server = await startServer(
    { robots, stations: [{ name: "packing", needsPermit: false, load: null }], users: [operator, observer] },
    { audit, stations, accounts },
  );
  const scada = await openSession(server.url, { user: { name: "scada", password: "line secret" } });
  const line = await openSession(server.url, { user: { name: "line", password: "line secret" } });
  const string = (value: string) => ({ dataType: DataType.String, value });
  const call = (caller: typeof line, requestId: string, request: string) =>
    caller.session.call({
      objectId: "ns=2;s=Operations",
      methodId: "ns=2;s=Operations.CreateMission",
      inputArguments: [
        string(requestId),
        { dataType: DataType.DateTime, value: new Date(8.64e15) },
        string(request),
      ],
    });
  await call(scada, "c1", '{"robotId":"r1"}');
  await call(line, "c2", "[");
  await call(line, "", "{}");
  // In every cycle: one line says it.
  for (let cycles = 0; cycles < 3; cycles += 1) {
    const [status] = await scada.write([
      "Robots.AMR01.MissionSlot.RequestId",
      { dataType: "Int32", value: 7 },
    ]);
    expect(status).toBe(StatusCodes.BadUserAccessDenied);
  }
  for (const [slot, operation] of [
    ["Robots.AMR01.MissionSlot", 99],
    ["Stations.packing.Slot", 50],
  ] as const) {
    const ticket = await line.nextId(`${slot}.NextId`);
    const robot = slot.startsWith("Stations") ? [[`${slot}.Robot`, text("AMR01")] as const] : [];
    await line.write(...robot, [`${slot}.Operation`, int32(operation)], [`${slot}.RequestId`, int32(ticket)]);
  }
  await scada.close();
  await line.close();
  await server.stop();
  const from = expect.stringContaining("127.0.0.1");
  expect(told).toEqual([
    [
      "scada",
      "call/c1",
      "CreateMission",
      "r1",
      from,
      "NOT_ALLOWED",
      'opcua "scada" may not send CreateMission, which needs operator: opcua.users.scada.role makes it observer',
    ],
    ["line", "call/c2", "CreateMission", null, from, "MALFORMED", expect.any(String)],
    ["line", "call/", "CreateMission", null, from, "MALFORMED", expect.any(String)],
    [
      "scada",
      null,
      "Robots.AMR01.MissionSlot",
      null,
      from,
      "NOT_ALLOWED",
      '"scada" is observer, and a slot needs operator',
    ],
    [
      "line",
      expect.stringMatching(/^Robots\.AMR01\.MissionSlot\/./),
      "Robots.AMR01.MissionSlot",
      null,
      from,
      "MALFORMED",
      expect.any(String),
    ],
    [
      "line",
      expect.stringMatching(/^Stations\.packing\.Slot\/./),
      "LeaseRobot",
      "r1",
      from,
      "LEASE_HELD",
      "station labels leases it",
    ],
  ]);
});
