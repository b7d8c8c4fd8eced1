import { describe, expect, it } from "vitest";
import type { LoggedCommand } from "../../src/contracts/command-log.ts";
import { createHarness, LOST, mission, missions, OK, plc } from "./commands-harness.ts";

const go = { robot: "AMR01", to: "A" };

/** What a test looks at: number, id, stage and outcome. */
function rows(commands: readonly LoggedCommand[]) {
  return commands.map(({ number, requestId, sentAtMs, ending }) => [
    number,
    requestId,
    ending?.outcome ?? (sentAtMs === null ? "accepted" : "sent"),
  ]);
}

describe("the log of commands", () => {
  it("has each command with its stages, newest first, and tells followers of each", async () => {
    const harness = await createHarness();
    const told: LoggedCommand[] = [];
    const leave = harness.log.follow((command) => told.push(command));
    await harness.send("Go", go, { requestId: "a" });
    await harness.send("Go", go, { requestId: "b" });
    expect(rows(harness.log.newest())).toEqual([
      [2, "b", "accepted"],
      [1, "a", "sent"],
    ]);
    await harness.call(0).answer(OK);
    leave();
    await harness.call(1).answer(OK);
    expect(rows(harness.log.newest())).toEqual([
      [2, "b", "succeeded"],
      [1, "a", "succeeded"],
    ]);
    expect(rows(told).filter(([, id]) => id === "a")).toEqual([
      [1, "a", "accepted"],
      [1, "a", "sent"],
      [1, "a", "succeeded"],
    ]);
    expect(harness.log.newest()[0]).toMatchObject({
      source: plc,
      operation: "Go",
      robotId: "AMR01",
      requestJson: JSON.stringify(go),
      acceptedAtMs: harness.clock.nowMs(),
      sentAtMs: harness.clock.nowMs(),
      finalAtMs: harness.clock.nowMs(),
      onBehalfOf: null,
    });
  });

  it("keeps a command in hand apart from what is refused under its id", async () => {
    const harness = await createHarness();
    await harness.send("Go", go, { requestId: "a" });
    await harness.send("Go", { ...go, to: "B" }, { requestId: "a" });
    await harness.send("Nonsense", {}, { requestId: "a" });
    expect(rows(harness.log.newest())).toEqual([
      [3, "a", "refused"],
      [2, "a", "refused"],
      [1, "a", "sent"],
    ]);
    await harness.call(0).answer(OK);
    expect(rows(harness.log.newest()).at(-1)).toEqual([1, "a", "succeeded"]);
  });

  it("has the times of a read, which no record has", async () => {
    const harness = await createHarness();
    await harness.send("Look", { robot: "AMR01" }, { requestId: "a" });
    await harness.clock.settle(100);
    await harness.call(0).answer(OK);
    const [read] = harness.log.newest();
    expect(read).toMatchObject({ number: 1, sentAtMs: expect.any(Number), ending: { outcome: "succeeded" } });
    expect(harness.log.newest()).toHaveLength(1);
  });

  it("has what was found of a command whose outcome is unknown", async () => {
    const harness = await createHarness();
    await harness.see(missions("AMR01", harness.clock.nowMs() - 1));
    await harness.send("Go", go, { requestId: "slow" });
    await harness.call(0).answer(LOST);
    await harness.clock.settle(15_000);
    await harness.see(missions("AMR01", harness.clock.nowMs(), mission("late", "A")));
    expect(harness.log.newest()).toMatchObject([
      { ending: { outcome: "unknown" }, foundLater: expect.stringContaining("mission late") },
    ]);
  });

  it("is bounded, and drops no command in hand", async () => {
    const harness = await createHarness({ mostLogged: 3 });
    await harness.send("Go", go, { requestId: "hand" });
    for (const id of ["1", "2", "3", "4"]) await harness.send("Nonsense", {}, { requestId: id });
    expect(rows(harness.log.newest()).map(([, id]) => id)).toEqual(["4", "3", "hand"]);
  });

  it("begins with what earlier runs have left in the audit log", async () => {
    const before = await createHarness();
    await before.send("Go", go, { requestId: "a" });
    await before.call(0).answer(OK);
    await before.send("Nonsense", {}, { requestId: "b" });
    const lines = [
      '{"at":"2026-01-01T00:00:01.000Z","eve',
      ...before.audit.map((record) => JSON.stringify(record)).reverse(),
      '{"at":"2026-01-01T00:00:00.000Z","event":"hold","protocol":"cli","user":"ann"}',
      '{"at":"soon","event":"command","protocol":"cli","user":"ann","operation":"Go"}',
      "7",
      "null",
    ];
    const auditLines = async (take: (line: string) => boolean) => lines.every((line) => take(line));
    const { log, send } = await createHarness({ auditLines });
    expect(rows(log.newest())).toEqual([
      [2, "b", "refused"],
      [1, "a", "succeeded"],
    ]);
    expect(log.newest().at(-1)).toEqual({ ...before.log.newest().at(-1), number: 1 });
    await send("Nonsense", {}, { requestId: "c" });
    expect(rows(log.newest())[0]).toEqual([3, "c", "refused"]);
  });

  it("begins empty when the audit log cannot be read", async () => {
    const auditLines = () => Promise.reject(new Error("no such disk"));
    const { log } = await createHarness({ auditLines });
    expect(log.newest()).toEqual([]);
  });
});
