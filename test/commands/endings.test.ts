import { describe, expect, it } from "vitest";
import { envelopeOf } from "../support/intake-harness.ts";
import { belt, createHarness, LOST, mission, missions, OK, presence } from "./commands-harness.ts";

describe("a command's life", () => {
  it("is accepted, sent and succeeded, with the service's answer", async () => {
    const harness = await createHarness();
    const sent = await harness.send("Go", { robot: "AMR01", to: "A" });
    expect(sent.stages).toEqual(["accepted", "sent"]);
    await harness.call(0).answer({ kind: "ok", responseJson: '{"mission_id":"m1"}', missionId: "m1" });
    expect(sent.outcome).toEqual({
      outcome: "succeeded",
      code: "OK",
      message: "",
      retrySafe: false,
      responseJson: '{"mission_id":"m1"}',
      missionId: "m1",
      evidence: null,
      duplicate: false,
    });
    expect(harness.makerOf("m1")).toBe("opcua:plc/r1");
  });

  it("passes on what must be known of an answer", async () => {
    const harness = await createHarness();
    const sent = await harness.send("Go", { robot: "AMR01", to: "A" });
    await harness
      .call(0)
      .answer({ kind: "ok", responseJson: "{}", missionId: null, note: "as of yesterday" });
    expect(sent.outcome).toMatchObject({ outcome: "succeeded", message: "as of yesterday" });
  });

  it("is one at a time for a robot, in order, and in parallel across robots", async () => {
    const harness = await createHarness();
    for (const to of ["A", "B"]) await harness.send("Go", { robot: "AMR01", to });
    await harness.send("Go", { robot: "AMR02", to: "C" });
    const left = () => harness.calls.map(({ requestJson }) => JSON.parse(requestJson).to);
    expect(left()).toEqual(["A", "C"]);
    await harness.call(0).answer(OK);
    expect(left()).toEqual(["A", "C", "B"]);
  });

  it("has one queue for a robot whichever name is used", async () => {
    const harness = await createHarness();
    await harness.see({
      kind: "task_chain",
      chainId: 5,
      observed: {
        value: { chainId: 5, amrId: 7, taskSeq: "", status: "", finished: false, info: {} },
        stamp: { sourceTimeMs: null, sequence: null, receivedAtMs: 0 },
        quality: "good",
      },
    });
    await harness.see(presence("AMR01", 7));
    await harness.send("Go", { robot: "AMR01", to: "A" });
    await harness.send("Chain", { number: 7 });
    await harness.send("Confirm", { chain: 5 });
    expect(harness.calls).toHaveLength(1);
    await harness.call(0).answer(OK);
    expect(harness.calls.map(({ operation }) => operation)).toEqual(["Go", "Chain"]);
    await harness.call(1).answer(OK);
    expect(harness.calls.map(({ operation }) => operation)).toEqual(["Go", "Chain", "Confirm"]);
  });

  it("fills an empty reference with the identity, and leaves a given one alone", async () => {
    const harness = await createHarness();
    await harness.see(presence("AMR01", 7), presence("AMR02", 8));
    await harness.send("Chain", { number: 7, chain: { reference: "" } }, { requestId: "x" });
    await harness.send("Chain", { number: 8, chain: { reference: "mine" } });
    expect(harness.calls.map(({ requestJson }) => JSON.parse(requestJson).chain.reference)).toEqual([
      "opcua:plc/x",
      "mine",
    ]);
  });

  it("gets the recorded outcome when it comes again, and joins when it is under way", async () => {
    const harness = await createHarness();
    const once = { requestId: "once" };
    const first = await harness.send("Go", { robot: "AMR01", to: "A" }, once);
    const joined = await harness.send("Go", { robot: "AMR01", to: "A" }, once);
    expect(joined).toMatchObject({ outcome: null, stages: ["accepted", "sent"] });
    await harness.call(0).answer(OK);
    expect(first.outcome).toMatchObject({ outcome: "succeeded", duplicate: false });
    expect(joined.outcome).toMatchObject({ outcome: "succeeded", duplicate: true });
    const later = await harness.send("Go", { robot: "AMR01", to: "A" }, once);
    expect(later.outcome).toMatchObject({ outcome: "succeeded", duplicate: true });
    expect(await harness.dispatcher.recall({ protocol: "opcua", name: "plc" }, "once")).toMatchObject({
      outcome: "succeeded",
      duplicate: true,
    });
    expect(await harness.dispatcher.recall({ protocol: "opcua", name: "plc" }, "never")).toBeNull();
    expect(harness.calls).toHaveLength(1);
  });

  it("keeps a refusal too: a redelivery after it must not move what its sender was told is refused", async () => {
    const harness = await createHarness();
    harness.quality.set("AMR01", "stale");
    const once = { requestId: "once" };
    await harness.send("Go", { robot: "AMR01", to: "A" }, once);
    harness.quality.set("AMR01", "good");
    const again = await harness.send("Go", { robot: "AMR01", to: "A" }, once);
    expect(again.outcome).toMatchObject({ code: "ROBOT_NOT_GOOD", duplicate: true });
    expect(harness.calls).toEqual([]);
  });

  it("goes on when the caller gives up", async () => {
    const harness = await createHarness();
    const abort = new AbortController();
    const command = {
      source: { protocol: "opcua", name: "plc" },
      requestId: "left",
      operation: "Go",
      effect: "moves",
      robotId: "AMR01",
      requestJson: '{"robot":"AMR01","to":"A"}',
      startByMs: harness.clock.nowMs() + 10_000,
    } as const;
    const waiting = harness.intake.submit(envelopeOf(command, harness.clock.nowMs()), abort.signal);
    abort.abort(new Error("client gone"));
    await expect(waiting).rejects.toThrow("client gone");
    await harness.clock.settle(0);
    await harness.call(0).answer(OK);
    expect(await harness.dispatcher.recall(command.source, "left")).toMatchObject({ outcome: "succeeded" });
  });

  it("ends as unknown at the drain's deadline", async () => {
    const harness = await createHarness();
    const sent = await harness.send("Go", { robot: "AMR01", to: "A" });
    const closing = harness.dispatcher.close(3_000);
    await harness.clock.settle(2_999);
    expect(sent.outcome).toBeNull();
    await harness.clock.settle(1);
    await closing;
    expect(sent.outcome).toMatchObject({ outcome: "unknown", code: "OUTCOME_UNKNOWN", retrySafe: false });
  });
});

/** A row of docs/commands.md, Operations, each. Without evidence nothing is proven; with it, it is likely. */
describe("unknown endings", () => {
  it("a read is sent again while its expiry lasts", async () => {
    const harness = await createHarness();
    const sent = await harness.send("Look", { robot: "AMR01" });
    await harness.call(0).answer({ kind: "unknown", code: "UNAVAILABLE", message: "cut" });
    await harness.clock.settle(200);
    await harness.call(1).answer({ kind: "not_sent", message: "no connection" });
    await harness.clock.settle(400);
    await harness.call(2).answer(OK);
    expect(sent.outcome).toMatchObject({ outcome: "succeeded", retrySafe: true });
  });

  it("a repeatable stop is sent again, and 'already done' counts as done", async () => {
    const harness = await createHarness();
    const sent = await harness.send("Halt", { robot: "AMR01" });
    await harness.call(0).answer({ kind: "unknown", code: "UNAVAILABLE", message: "cut" });
    await harness.clock.settle(200);
    await harness.call(1).answer({ kind: "refused", code: "FAILED_PRECONDITION", message: "it has ended" });
    expect(sent.outcome).toMatchObject({
      outcome: "probably_succeeded",
      code: "OK",
      evidence:
        "the first sending ended UNAVAILABLE; sent again, the service answered FAILED_PRECONDITION: it has ended (already done)",
    });
  });

  it("a refusal of a repeat does not say that the first sending did nothing", async () => {
    const harness = await createHarness();
    const sent = await harness.send("Halt", { robot: "AMR01" });
    await harness.call(0).answer({ kind: "unknown", code: "UNAVAILABLE", message: "cut" });
    await harness.clock.settle(200);
    await harness.call(1).answer({ kind: "refused", code: "UNAUTHENTICATED", message: "token" });
    expect(sent.outcome).toMatchObject({ outcome: "unknown", code: "UNAUTHENTICATED", retrySafe: true });
  });

  it("a repeat stops at its expiry", async () => {
    const harness = await createHarness();
    const sent = await harness.send("Look", { robot: "AMR01" });
    harness.clock.advance(9_999);
    await harness.call(0).answer(LOST);
    await harness.clock.settle(200);
    expect(harness.calls).toHaveLength(1);
    expect(sent.outcome).toMatchObject({ outcome: "unknown", code: "DEADLINE_EXCEEDED", retrySafe: true });
  });

  it("a repeatable stop that never reached the service is refused, not unknown", async () => {
    const harness = await createHarness();
    const sent = await harness.send("Halt", { robot: "AMR01" }, { startByMs: harness.clock.nowMs() + 100 });
    await harness.call(0).answer({ kind: "not_sent", message: "down" });
    await harness.clock.settle(200);
    expect(sent.outcome).toMatchObject({ outcome: "refused", code: "FLEET_UNREACHABLE" });
  });

  it("one new mission of owner api, type and goals makes a start probable; the queue waits for it", async () => {
    const harness = await createHarness();
    await harness.see(
      missions("AMR01", harness.clock.nowMs() - 1, mission("old", "A", { state: "STATE_SUCCEEDED" })),
    );
    const sent = await harness.send("Go", { robot: "AMR01", to: "A" });
    const next = await harness.send("Go", { robot: "AMR01", to: "B" });
    harness.clock.advance(2_000);
    await harness.call(0).answer(LOST);
    expect(sent.outcome).toBeNull();
    harness.clock.advance(1_000);
    await harness.see(missions("AMR01", harness.clock.nowMs(), mission("new", "A")));
    await harness.clock.settle(999);
    expect(sent.outcome).toBeNull();
    expect(harness.calls).toHaveLength(1);
    await harness.clock.settle(1);
    expect(sent.outcome).toMatchObject({
      outcome: "probably_succeeded",
      code: "OK",
      missionId: "new",
      message: "inferred: the call itself ended DEADLINE_EXCEEDED",
      retrySafe: false,
      evidence:
        "mission status of AMR01 received 2026-01-01T00:00:03.000Z: mission new (BASE_TYPE_NAVIGATE, owner api, goals [A], STATE_RUNNING) is new since the call left",
    });
    expect(next.stages).toContain("sent");
  });

  it.each([
    ["was in the list before", mission("old", "A")],
    ["is somebody else's", mission("new", "A", { owner: "touchscreen" })],
    ["goes elsewhere", mission("new", "B")],
    [
      "is of another type",
      mission("new", "A", { type: { family: "base", type: "BASE_TYPE_NAVIGATE_AUTO" } }),
    ],
  ])("a mission that %s is no evidence: unknown after 15 s", async (_, seen) => {
    const harness = await createHarness();
    await harness.see(missions("AMR01", harness.clock.nowMs() - 1, mission("old", "A")));
    const sent = await harness.send("Go", { robot: "AMR01", to: "A" });
    await harness.call(0).answer(LOST);
    await harness.see(missions("AMR01", harness.clock.nowMs() + 1, seen));
    await harness.clock.settle(14_999);
    expect(sent.outcome).toBeNull();
    await harness.clock.settle(1);
    expect(sent.outcome).toMatchObject({
      outcome: "unknown",
      code: "DEADLINE_EXCEEDED",
      retrySafe: false,
      evidence: null,
    });
    expect(harness.calls).toHaveLength(1);
  });

  it("without a list from before the call nothing can be called new", async () => {
    const harness = await createHarness();
    const sent = await harness.send("Go", { robot: "AMR01", to: "A" });
    await harness.see(missions("AMR01", harness.clock.nowMs() + 1, mission("new", "A")));
    await harness.call(0).answer(LOST);
    await harness.clock.settle(15_000);
    expect(sent.outcome?.outcome).toBe("unknown");
  });

  it("a list that was received before the call and read after it belongs to the time before", async () => {
    const harness = await createHarness();
    await harness.see(missions("AMR01", harness.clock.nowMs() - 10));
    const sent = await harness.send("Go", { robot: "AMR01", to: "A" });
    await harness.see(missions("AMR01", harness.clock.nowMs() - 5, mission("theirs", "A")));
    await harness.call(0).answer(LOST);
    await harness.clock.settle(15_000);
    expect(sent.outcome?.outcome).toBe("unknown");
  });

  it("two missions that fit decide nothing", async () => {
    const harness = await createHarness();
    await harness.see(missions("AMR01", harness.clock.nowMs() - 1));
    const sent = await harness.send("Go", { robot: "AMR01", to: "A" });
    await harness.call(0).answer(LOST);
    await harness.see(missions("AMR01", harness.clock.nowMs(), mission("n1", "A"), mission("n2", "A")));
    await harness.clock.settle(0);
    expect(sent.outcome).toMatchObject({ outcome: "unknown" });
    expect(sent.outcome?.message).toContain("2 missions fit, so none is known to be its own");
  });

  it("a mission's state is evidence only when it was another one before", async () => {
    const paused =
      "mission status of AMR01 received 2026-01-01T00:00:00.000Z: mission m is STATE_RUNNING, and was STATE_PAUSED when the call left";
    for (const [before, outcome, evidence] of [
      ["STATE_PAUSED", "probably_succeeded", paused],
      ["STATE_RUNNING", "unknown", null],
    ] as const) {
      const harness = await createHarness();
      await harness.see(missions("AMR01", harness.clock.nowMs() - 1, mission("m", "A", { state: before })));
      const sent = await harness.send("Resume", { robot: "AMR01", mission: "m" });
      await harness.call(0).answer(LOST);
      await harness.see(missions("AMR01", harness.clock.nowMs(), mission("m", "A")));
      await harness.clock.settle(15_000);
      expect(sent.outcome).toMatchObject({ outcome, evidence });
      expect(harness.calls).toHaveLength(1);
    }
  });

  it("a mission's state is evidence also where the mission is another command's of ours", async () => {
    const harness = await createHarness();
    await harness.see(missions("AMR01", harness.clock.nowMs() - 1));
    const made = await harness.send("Go", { robot: "AMR01", to: "A" });
    await harness.call(0).answer({ kind: "ok", responseJson: "{}", missionId: "m", missionIds: ["m"] });
    expect(made.outcome).toMatchObject({ outcome: "succeeded" });
    await harness.see(missions("AMR01", harness.clock.nowMs(), mission("m", "A", { state: "STATE_PAUSED" })));
    await harness.clock.settle(10);
    const sent = await harness.send("Resume", { robot: "AMR01", mission: "m" });
    await harness.call(1).answer(LOST);
    await harness.see(missions("AMR01", harness.clock.nowMs(), mission("m", "A")));
    await harness.clock.settle(15_000);
    expect(harness.makerOf("m")).toBe("opcua:plc/r1");
    expect(sent.outcome).toMatchObject({ outcome: "probably_succeeded" });
  });

  it("a command without an evidence rule is unknown at once", async () => {
    const harness = await createHarness();
    const sent = await harness.send("Skip", { robot: "AMR01" });
    await harness.call(0).answer(LOST);
    expect(sent.outcome).toMatchObject({
      outcome: "unknown",
      code: "DEADLINE_EXCEEDED",
      message: "no answer in time; the robot may have acted, or may act later",
    });
  });

  it("belts that stand are evidence when each of them was seen after the call", async () => {
    const harness = await createHarness();
    const sent = await harness.send("StopBelts", { robot: "AMR01" });
    await harness.send("RollBelts", { robot: "AMR01" });
    await harness.call(0).answer(LOST);
    await harness.clock.settle(200);
    const nowMs = harness.clock.nowMs();
    await harness.see(belt("AMR01", nowMs, 0, "OPERATION_STATE_STOP"));
    expect(sent.outcome).toBeNull();
    await harness.see(belt("AMR01", nowMs, 1, "OPERATION_STATE_STOP"));
    const seen = (index: number) =>
      `conveyor status of AMR01 received 2026-01-01T00:00:00.200Z: conveyor ${index} is OPERATION_STATE_STOP`;
    expect(sent.outcome).toMatchObject({
      outcome: "probably_succeeded",
      evidence: `${seen(0)}; ${seen(1)}`,
    });
  });

  it("the service is asked before and after, where the rule says so", async () => {
    const harness = await createHarness();
    const sent = await harness.send("Register", { name: "hook" });
    const list = (...names: string[]) =>
      ({ kind: "ok", responseJson: JSON.stringify({ names }), missionId: null }) as const;
    expect(harness.calls.map(({ operation }) => operation)).toEqual(["List"]);
    await harness.call(0).answer(list("hook"));
    await harness.call(1).answer(LOST);
    await harness.call(2).answer(list("hook"));
    expect(sent.outcome).toBeNull();
    await harness.clock.settle(2_000);
    await harness.call(3).answer(list("hook", "hook"));
    expect(sent.outcome).toMatchObject({
      outcome: "probably_succeeded",
      evidence: "List names hook once more",
    });
    expect(harness.calls.map(({ operation }) => operation)).toEqual(["List", "Register", "List", "List"]);
  });

  it("a stop does not wait for the state before it, which is asked for as it leaves", async () => {
    const harness = await createHarness();
    const answer = (open: boolean) =>
      ({ kind: "ok", responseJson: JSON.stringify({ open }), missionId: null }) as const;
    await harness.send("Register", { name: "x" });
    const waiting = await harness.send("Register", { name: "y" });
    const sent = await harness.send("Drop", { chain: 9 });
    expect(harness.calls.map(({ operation }) => operation)).toEqual(["List", "FindChain", "Drop"]);
    expect(waiting.outcome, "a chain's stop cancels nothing of others").toBeNull();
    await harness.call(1).answer(answer(true));
    await harness.call(2).answer(LOST);
    await harness.call(3).answer(answer(false));
    expect(sent.outcome).toMatchObject({
      outcome: "probably_succeeded",
      evidence: "FindChain shows it closed, and it was open",
    });
  });

  it("counts missions of owner api that nobody here has sent", async () => {
    const harness = await createHarness();
    await harness.see(missions("AMR01", harness.clock.nowMs() - 1, mission("before", "A")));
    await harness.send("Go", { robot: "AMR01", to: "A" });
    await harness.see(missions("AMR01", harness.clock.nowMs(), mission("before", "A"), mission("ours", "A")));
    await harness.call(0).answer({ kind: "ok", responseJson: "{}", missionId: "ours" });
    await harness.see(missions("AMR02", harness.clock.nowMs()));
    await harness.see(missions("AMR02", harness.clock.nowMs(), mission("foreign", "B")));
    await harness.clock.settle(30_000);
    expect(harness.dispatcher.health().figures).toMatchObject({ foreignMissions: 1 });
  });
});
