import type { JsonObject } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { added, queried, type Steps, taskStatuses } from "./chains.ts";
import { tasks } from "./requests.ts";
import { contractTests } from "./service.ts";

const { overHttp } = contractTests();
const LONG_MS = 60_000;

overHttp(
  "TRN-49 Reassign at sequence, counted from 1, is_retained true: the old tasks come behind the new ones",
  async (service) => {
    for (const by of ["ReassignTaskByAmrId", "ReassignTaskByTaskChainId"]) {
      const robot = service.fresh("base");
      const [a, b, c] = robot.codes;
      const chainId = await added(service, robot, [
        ["LOAD", a],
        ["UNLOAD", b],
      ]);
      const body = { sequence: 2, is_retained: true, reassign_tasks: tasks(1, ["LOAD", c]) };
      const path: JsonObject =
        by === "ReassignTaskByAmrId" ? { amr_id: robot.amrId } : { task_chain_id: chainId };
      expect(await service.done(by, { ...path, ...body })).toEqual({});
      expect((await queried(service, chainId)).tasks.map(({ point }) => point)).toEqual([a, c, b]);
    }
  },
);

overHttp("TRN-50 Reassign, is_retained false: the old tasks from there on are dropped", async (service) => {
  const robot = service.fresh("base");
  const [a, b, c] = robot.codes;
  const chainId = await added(service, robot, [
    ["LOAD", a],
    ["UNLOAD", b],
    ["UNLOAD", a],
  ]);
  const body = { sequence: 2, isRetained: false, reassignTasks: tasks(1, ["UNLOAD", c]) };
  await service.done("ReassignTaskByTaskChainId", { task_chain_id: chainId, ...body });
  expect((await queried(service, chainId)).tasks.map(({ point }) => point)).toEqual([a, c]);
  service.clock.advance(LONG_MS);
  expect(await taskStatuses(service, chainId)).toEqual(["COMPLETED", "COMPLETED"]);
});

overHttp(
  "TRN-51 Reassign before or at a task that is executing or done: FAILED_PRECONDITION, unchanged",
  async (service) => {
    const robot = service.fresh("base");
    const [a, b, c] = robot.codes;
    const chainId = await added(service, robot, [
      ["LOAD", a],
      ["SYSTEM_CONFIRM", b],
      ["UNLOAD", c],
    ]);
    const reassign = (sequence: number) =>
      service.code("ReassignTaskByTaskChainId", {
        task_chain_id: chainId,
        sequence,
        reassign_tasks: tasks(1, ["UNLOAD", a]),
      });
    service.clock.advance(LONG_MS);
    expect(await taskStatuses(service, chainId)).toEqual(["COMPLETED", "EXECUTING", "WAITING"]);
    expect([await reassign(1), await reassign(2)]).toEqual(["FAILED_PRECONDITION", "FAILED_PRECONDITION"]);
    expect([await reassign(0), await reassign(-1), await reassign(5)]).toEqual(
      Array(3).fill("INVALID_ARGUMENT"),
    );
    expect((await queried(service, chainId)).tasks.map(({ point }) => point)).toEqual([a, b, c]);
    expect(await reassign(3)).toBe("OK");
  },
);

overHttp(
  "TRN-63 Reassign: a point counts from the first task of the chain, done or not, whatever waits or executes",
  async (service) => {
    // A, B and C are the chain's points, N is the new one; a code is a refusal.
    const table: ReadonlyArray<readonly ["waiting" | "executing", number, string, string]> = [
      ["waiting", 0, "INVALID_ARGUMENT", "INVALID_ARGUMENT"],
      ["waiting", 1, "NABC", "N"],
      ["waiting", 2, "ANBC", "AN"],
      ["waiting", 3, "ABNC", "ABN"],
      ["waiting", 4, "ABCN", "ABCN"],
      ["waiting", 5, "INVALID_ARGUMENT", "INVALID_ARGUMENT"],
      ["executing", 1, "FAILED_PRECONDITION", "FAILED_PRECONDITION"],
      ["executing", 2, "ANBC", "AN"],
      ["executing", 3, "ABNC", "ABN"],
      ["executing", 4, "ABCN", "ABCN"],
      ["executing", 5, "INVALID_ARGUMENT", "INVALID_ARGUMENT"],
    ];
    const robot = service.fresh("base");
    const [a, b, c] = robot.codes;
    const named = new Map([a, b, c, robot.homeCode].map((code, at) => [code, "ABCN"[at]]));
    const steps: Steps = [
      ["LOAD", a],
      ["UNLOAD", b],
      ["UNLOAD", c],
    ];
    const outcome = async (state: string, sequence: number, isRetained: boolean) => {
      const first = await added(service, robot, steps);
      const chainId = state === "executing" ? first : await added(service, robot, steps);
      const code = await service.code("ReassignTaskByTaskChainId", {
        task_chain_id: chainId,
        sequence,
        isRetained,
        reassignTasks: tasks(robot.mapId, ["UNLOAD", robot.homeCode]),
      });
      const { tasks: now } = await queried(service, chainId);
      const points = now.map(({ point }) => named.get(point)).join("");
      for (const id of new Set([chainId, first])) {
        await service.done("CancelTaskChain", { task_chain_id: id, force: true });
      }
      if (code !== "OK") expect(points).toBe("ABC");
      return code === "OK" ? points : code;
    };
    const seen = [];
    for (const [state, sequence] of table) {
      seen.push([
        state,
        sequence,
        await outcome(state, sequence, true),
        await outcome(state, sequence, false),
      ]);
    }
    expect(seen).toEqual(table);
  },
);

overHttp(
  "TRN-62 Reassign with no tasks: INVALID_ARGUMENT, unchanged, whether the old ones are to be kept or not",
  async (service) => {
    const robot = service.fresh("base");
    const [a, b] = robot.codes;
    const chainId = await added(service, robot, [
      ["LOAD", a],
      ["UNLOAD", b],
    ]);
    for (const isRetained of [false, true]) {
      const body = { sequence: 2, isRetained, reassignTasks: [] };
      const byChain = { task_chain_id: chainId, ...body };
      expect(await service.code("ReassignTaskByTaskChainId", byChain)).toBe("INVALID_ARGUMENT");
      expect(await service.code("ReassignTaskByAmrId", { amr_id: robot.amrId, ...body })).toBe(
        "INVALID_ARGUMENT",
      );
    }
    expect((await queried(service, chainId)).tasks.map(({ point }) => point)).toEqual([a, b]);
  },
);
