import { fastify } from "fastify";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RightsRule } from "../../../src/commands/options.ts";
import { commandRights } from "../../../src/commands/rights.ts";
import { type Check, check, type Rights, rights } from "../../../src/northbound/web/api/session.ts";
import { addJsonBodies } from "../../../src/northbound/web/request-body.ts";
import { addRightsRoutes } from "../../../src/northbound/web/rights.ts";
import { createLive } from "../../../src/platform/live.ts";
import { fakeCatalogue } from "../opcua/fake-commands.ts";
import { createControlHarness } from "./control-harness.ts";
import { createWebHarness, type WebHarness } from "./web-harness.ts";

let harness: WebHarness;
beforeEach(async () => {
  harness = await createWebHarness();
});
afterEach(async () => harness[Symbol.asyncDispose]());

async function checked(body: unknown): Promise<readonly [number, Check]> {
  const response = await fetch(`${harness.url}/api/v1/check`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return [response.status, (await response.json()) as Check];
}

describe("a check", () => {
  it("says what a command would do, and sends nothing", async () => {
    const [status, answer] = await checked({ operation: "CreateMission", request: { robotId: "r1" } });
    expect([status, check.parse(answer)]).toEqual([
      200,
      expect.objectContaining({ outcome: "checked", code: "OK", effect: "moves", robot_id: "r1" }),
    ]);
    expect(harness.commander.submitted).toEqual([]);
  });

  it("names the field that is wrong", async () => {
    const [status, answer] = await checked({ operation: "CreateMission", request: {} });
    expect([status, check.parse(answer)]).toEqual([
      200,
      {
        outcome: "refused",
        code: "MALFORMED",
        message: "request.robotId: is required",
        effect: null,
        robot_id: null,
      },
    ]);
  });

  it("refuses what would move a robot from an address that may not", async () => {
    harness.access = { users: [], tokens: [], movesFrom: ["192.0.2.1"] };
    const [, answer] = await checked({ operation: "CreateMission", request: { robotId: "r1" } });
    expect(answer).toMatchObject({
      outcome: "refused",
      code: "NOT_ALLOWED",
      message: "CreateMission moves a robot, and web.commands.from does not name the address 127.0.0.1",
    });
  });

  it.each(["{", '{"operation":1}', '{"operation":"CreateMission","id":"c"}'])(
    "is no request that cannot be read: %s",
    async (body) => {
      expect(await checked(body)).toMatchObject([400, { status: 400 }]);
    },
  );
});

describe("rights", () => {
  const source = { protocol: "web", name: "anna" } as const;

  const ofOperator = { source, role: "operator", robots: ["r1"], operations: ["UpdateMission"] } as const;

  async function rightsOf(
    path: string,
    moves: string | null = null,
    rule: RightsRule = ofOperator,
  ): Promise<Rights> {
    const server = fastify();
    addJsonBodies(server);
    addRightsRoutes(server, {
      rights: commandRights(createLive({ rules: [rule], accounts: [] }), createLive([])),
      catalogue: fakeCatalogue(),
      commander: harness.commander,
      senderOf: () => [source, null],
      refusedMoves: () => moves,
    });
    const answer = await server.inject(path);
    return rights.parse(answer.json());
  }

  it("say which operations may be sent, and to which robot", async () => {
    const own = await rightsOf("/api/v1/rights?robot=r1");
    expect([own.user, own.robot, own.moves]).toEqual(["web:anna", null, null]);
    const open = own.operations.filter(({ refused }) => refused === null).map(({ name }) => name);
    expect(open).toEqual(["UpdateMission"]);
    const { robot } = await rightsOf("/api/v1/rights?robot=r2");
    expect(robot).toBe('web "anna" may not command robots, which needs operator: rights[0] names only r1');
  });

  it("say whose holds may be lifted besides the sender's own", async () => {
    const own = await rightsOf("/api/v1/rights?robot=r1");
    const refused = `web "anna" may not send the end of another's hold, which needs engineer`;
    expect([own.lift, own.lift_all]).toEqual([
      `${refused}: rights[0] makes it operator`,
      `${refused}: rights[0] makes it operator`,
    ]);
    const engineer = { source, role: "engineer", robots: ["r1"] } as const;
    const onOne = await rightsOf("/api/v1/rights?robot=r1", null, engineer);
    expect([onOne.lift, onOne.lift_all]).toEqual([null, `${refused}: rights[0] names only r1`]);
    const onNone = await rightsOf("/api/v1/rights", null, { source, role: "engineer" });
    expect([onNone.lift, onNone.lift_all]).toEqual([null, null]);
  });

  it("say that no robot may be moved from this address", async () => {
    const { moves } = await rightsOf("/api/v1/rights", "web.commands.from does not name it");
    expect(moves).toBe("web.commands.from does not name it");
  });

  it("are answered on the control socket too", async () => {
    await using control = await createControlHarness();
    expect(await control.ask("GET", "/api/v1/rights?robot=r1")).toMatchObject({
      status: 200,
      body: { user: "cli:local", robot: null, moves: null },
    });
  });
});
