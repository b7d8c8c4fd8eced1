import { describe, expect, it } from "vitest";
import type { RefusedRequest } from "../../../src/contracts/commander.ts";
import type { ActiveFault, FaultChange, SimulatedFault } from "../../../src/contracts/simulated-faults.ts";
import type { Outcome } from "../../../src/domain/outcome.ts";
import { simulatedFaults } from "../../../src/northbound/web/api/simulator.ts";
import { createWebHarness } from "./web-harness.ts";

/** A web server beside a simulated service of one robot. */
async function createDemo() {
  const active: ActiveFault[] = [];
  const told: FaultChange[] = [];
  const refused: Array<RefusedRequest & Pick<Outcome, "code">> = [];
  const find = ({ name, robotId }: SimulatedFault) =>
    active.findIndex(({ fault }) => fault.name === name && fault.robotId === robotId);
  const unknown = ({ robotId }: SimulatedFault) =>
    robotId === null || robotId === "cart-1" ? null : `there is no robot ${robotId}`;
  const web = await createWebHarness(() => ({
    simulator: {
      faults: {
        active: () => active,
        begin(fault) {
          if (unknown(fault) === null && find(fault) < 0) active.push({ fault, forMs: 1_500.4 });
          return unknown(fault);
        },
        end(fault) {
          if (find(fault) >= 0) active.splice(find(fault), 1);
          return unknown(fault);
        },
      },
      audit: {
        refused: (request, { code }) => void refused.push({ ...request, code }),
        fault: (change) => void told.push(change),
      },
    },
  }));
  const ask = async (method: string, path = "", body?: object, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${web.url}/api/v1/simulator/faults${path}`, {
      method,
      headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: (await answer.json()) as unknown };
  };
  return { web, active, told, refused, ask, [Symbol.asyncDispose]: () => web[Symbol.asyncDispose]() };
}

describe("faults of the simulator", () => {
  it.each([
    ["GET", "/api/v1/simulator/faults"],
    ["PUT", "/api/v1/simulator/faults/cut"],
    ["GET", "/simulator"],
  ])("%s %s is 404 at a gateway without a simulator", async (method, path) => {
    await using web = await createWebHarness();
    const body = method === "PUT" ? { body: '{"active":true}' } : {};
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${web.url}${path}`, { method, headers, ...body });
    expect(answer.status).toBe(404);
    await answer.text();
  });

  it("begin and end, and say for how long they last", async () => {
    await using demo = await createDemo();
    const cut = { fault: "cut", robot_id: null, active_for_ms: 1_500 };
    const block = { fault: "block", robot_id: "cart-1", active_for_ms: 1_500 };
    const list = (...active: readonly object[]) => ({
      status: 200,
      body: expect.objectContaining({ active }),
    });
    expect(await demo.ask("GET")).toEqual(list());
    expect(await demo.ask("PUT", "/cut", { active: true })).toEqual(list(cut));
    expect(await demo.ask("PUT", "/block", { active: true, robot_id: "cart-1" })).toEqual(list(cut, block));
    const listed = await demo.ask("GET");
    expect(listed).toEqual(list(cut, block));
    expect(simulatedFaults.safeParse(listed.body).success).toBe(true);
    expect(await demo.ask("PUT", "/cut", { active: false })).toEqual(list(block));
    const by = { source: { protocol: "web", name: "open" }, address: "127.0.0.1" };
    expect(demo.told).toEqual([
      { ...by, fault: { name: "cut", robotId: null }, change: "begin_fault" },
      { ...by, fault: { name: "block", robotId: "cart-1" }, change: "begin_fault" },
      { ...by, fault: { name: "cut", robotId: null }, change: "end_fault" },
    ]);
  });

  it("are not known since when, where they did not begin here", async () => {
    await using demo = await createDemo();
    demo.active.push({ fault: { name: "silence", robotId: null }, forMs: null });
    expect((await demo.ask("GET")).body).toMatchObject({
      active: [{ fault: "silence", active_for_ms: null }],
    });
  });

  it.each([
    ["/plague", { active: true }, 400, "fault: must be one of cut, silence"],
    ["/cut", {}, 400, "active: must be true or false"],
    ["/cut", { active: true, robot_id: "cart-1" }, 400, "robot_id: leave it out"],
    ["/cut", { active: true, forMs: 1 }, 400, "is not one of active, robot_id"],
    ["/block", { active: true }, 400, "robot_id: must be"],
    ["/block", { active: true, robot_id: "" }, 400, "robot_id: must be"],
    ["/block", { active: true, robot_id: "nobody" }, 404, "there is no robot nobody"],
  ])("%s with %j is refused", async (path, body, status, detail) => {
    await using demo = await createDemo();
    const answer = await demo.ask("PUT", path, body);
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ detail: expect.stringContaining(detail) });
    expect(demo.active).toEqual([]);
    expect(demo.told).toEqual([]);
    expect(demo.refused).toMatchObject([{ operation: "simulator_fault" }]);
  });

  it("are not begun by another website, nor by somebody who is no engineer", async () => {
    await using demo = await createDemo();
    const foreign = { origin: "http://evil.example.com" };
    expect((await demo.ask("PUT", "/cut", { active: true }, foreign)).status).toBe(403);
    const digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"; // of "test"
    const token = { name: "script", role: "operator", robots: null, digest } as const;
    demo.web.access = { users: [], tokens: [token], movesFrom: null };
    expect((await demo.ask("PUT", "/cut", { active: true })).status).toBe(401);
    const operator = { authorization: "Bearer test" };
    expect((await demo.ask("PUT", "/cut", { active: true }, operator)).status).toBe(403);
    expect((await demo.ask("GET", "", undefined, operator)).status).toBe(200);
    demo.web.access = { users: [], tokens: [{ ...token, role: "engineer" }], movesFrom: null };
    expect((await demo.ask("PUT", "/cut", { active: true }, operator)).status).toBe(200);
    expect(demo.refused).toMatchObject([{ code: "NOT_ALLOWED", source: { name: "script" } }]);
  });
});
