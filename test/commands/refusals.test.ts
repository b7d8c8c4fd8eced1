import { describe, expect, it } from "vitest";
import type { Journal } from "../../src/commands/journal/journal.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { createMemoryJournal } from "../support/memory-journal.ts";
import { createHarness, OK, presence } from "./commands-harness.ts";

/** Each refusal is one test, with the very words that the sender reads; nothing may have been sent. */
describe("refusals before anything is sent", () => {
  it("MALFORMED: an empty or endless request id", async () => {
    const harness = await createHarness();
    const empty = await harness.send("Go", { robot: "AMR01" }, { requestId: "" });
    const message = "id: must be 1 to 128 printable ASCII characters";
    expect(empty.outcome).toMatchObject({
      outcome: "refused",
      code: "MALFORMED",
      message,
      retrySafe: true,
    });
    const long = await harness.send("Go", { robot: "AMR01" }, { requestId: "x".repeat(129) });
    expect(long.outcome?.message).toBe(message);
    expect(harness.calls).toEqual([]);
  });

  it("MALFORMED: a request without the operation's shape", async () => {
    const harness = await createHarness();
    const sent = await harness.send("Go", { bad: 1 });
    expect(sent.outcome).toMatchObject({ code: "MALFORMED", message: "request.bad: there is no such field" });
    const text = await harness.send("Go", {}, { requestJson: "{" });
    expect(text.outcome).toMatchObject({
      code: "MALFORMED",
      message: expect.stringMatching(/^request: is not JSON: /),
    });
  });

  it("UNKNOWN_OPERATION", async () => {
    const harness = await createHarness();
    const sent = await harness.send("Fly", {});
    expect(sent.outcome).toMatchObject({
      code: "UNKNOWN_OPERATION",
      message: 'there is no operation "Fly"',
    });
  });

  it("echoes no more of a name than people read, wherever it stands", async () => {
    const harness = await createHarness();
    const name = "x".repeat(70_000);
    const shown = `"${"x".repeat(64)}…"`;
    await harness.clock.settle(10_000);
    const operation = await harness.send(name, {});
    expect(operation.outcome?.message).toBe(`there is no operation ${shown}`);
    const robot = await harness.send("Go", { robot: name });
    expect(robot.outcome?.message).toBe(`robot ${shown} was never heard of`);
    // No place of its own under the topics of robots either.
    expect(harness.events.at(-1)).toMatchObject({ kind: "command", robotId: "" });
    const id = await harness.send("Go", { robot: "AMR01" }, { requestId: name });
    expect(id.outcome?.message).toBe("id: must be 1 to 128 printable ASCII characters");
    for (const event of harness.events) expect(JSON.stringify(event).length).toBeLessThan(1_000);
    const service = await harness.send("Go", { robot: "AMR01" });
    await harness.call(0).answer({ kind: "refused", code: "INVALID_ARGUMENT", message: name });
    expect(service.outcome?.message).toBe(`${"x".repeat(1_000)}…`);
  });

  it("IDENTITY_REUSED: the same identity for another command, running or recorded", async () => {
    const harness = await createHarness();
    await harness.send("Go", { robot: "AMR01", to: "A" }, { requestId: "one" });
    const message = 'request id "one" was used before for another command';
    const other = { requestId: "one" };
    const running = await harness.send("Go", { robot: "AMR01", to: "B" }, other);
    expect(running.outcome).toMatchObject({ code: "IDENTITY_REUSED", message });
    await harness.call(0).answer(OK);
    const recorded = await harness.send("Go", { robot: "AMR01", to: "B" }, other);
    expect(recorded.outcome).toMatchObject({ code: "IDENTITY_REUSED", message });
    expect(harness.calls).toHaveLength(1);
  });

  it("NOT_ALLOWED: nobody names the source, so it only reads", async () => {
    const harness = await createHarness();
    const stranger = { source: { protocol: "mqtt", name: "hmi" } as const };
    const sent = await harness.send("Go", { robot: "AMR01" }, stranger);
    expect(sent.outcome).toMatchObject({
      code: "NOT_ALLOWED",
      message:
        'mqtt "hmi" may not send Go, which needs operator: no rule names it, so it may only read; in the configuration, rights: [{source: {protocol: mqtt, name: "hmi"}, role: operator}] would allow it',
    });
    const stop = await harness.send("Halt", { robot: "AMR01" }, stranger);
    expect(stop.outcome?.code).toBe("NOT_ALLOWED");
    await harness.send("Look", { robot: "AMR01" }, stranger);
    expect(harness.calls.map(({ operation }) => operation)).toEqual(["Look"]);
  });

  it("NOT_ALLOWED: names each rule and what it lacks", async () => {
    const harness = await createHarness();
    const scada = { source: { protocol: "mqtt", name: "scada" } as const };
    const sent = await harness.send("Go", { robot: "AMR02" }, scada);
    expect(sent.outcome).toMatchObject({
      code: "NOT_ALLOWED",
      message:
        'mqtt "scada" may not send Go, which needs operator: rights[1] names only AMR01; rights[2] names only Look',
    });
    const web = await harness.send("Go", { robot: "AMR01" }, { source: { protocol: "web", name: "ann" } });
    expect(web.outcome?.message).toBe(
      'web "ann" may not send Go, which needs operator: rights[3] makes it observer',
    );
  });

  it("EXPIRED: on arrival, in the queue, and while the disk syncs", async () => {
    const harness = await createHarness();
    const late = await harness.send("Go", { robot: "AMR01" }, { startByMs: harness.clock.nowMs() });
    expect(late.outcome).toMatchObject({
      outcome: "expired",
      code: "EXPIRED",
      message: "it was not sent by 2026-01-01T00:00:00.000Z",
      retrySafe: true,
    });
    await harness.send("Go", { robot: "AMR01", to: "A" });
    const waiting = await harness.send("Go", { robot: "AMR01", to: "B" });
    expect(waiting).toMatchObject({ outcome: null, stages: ["accepted"] });
    await harness.clock.settle(9_999);
    expect(waiting.outcome).toBeNull();
    await harness.clock.settle(1);
    expect(waiting.outcome).toMatchObject({ outcome: "expired", code: "EXPIRED" });
    await harness.call(0).answer(OK);
    expect(harness.calls).toHaveLength(1);
  });

  it("EXPIRED: in its time, though timers fire a moment early", async () => {
    const manual = createManualClock();
    const hasty = {
      ...manual,
      after: (delayMs: number, task: () => void) => manual.after(Math.max(0, delayMs - 0.6), task),
    };
    const harness = await createHarness({ clock: hasty });
    await harness.send("Go", { robot: "AMR01", to: "A" });
    const waiting = await harness.send("Go", { robot: "AMR01", to: "B" });
    await hasty.settle(10_001);
    expect(waiting.outcome?.code).toBe("EXPIRED");
  });

  it("EXPIRED: in real time, also when the wall clock is set back", async () => {
    const manual = createManualClock();
    let setBackMs = 0;
    const clock = { ...manual, nowMs: () => manual.nowMs() - setBackMs };
    const harness = await createHarness({ clock });
    await harness.send("Go", { robot: "AMR01", to: "A" });
    const waiting = await harness.send("Go", { robot: "AMR01", to: "B" });
    setBackMs = 3_600_000;
    await clock.settle(10_000);
    expect(waiting.outcome?.code).toBe("EXPIRED");
  });

  it("EXPIRED: while the journal syncs", async () => {
    let release = () => {};
    const journal: Journal = {
      ...createMemoryJournal({ keepMs: 1, keepCount: 1 }),
      write: () =>
        new Promise((resolve) => {
          release = resolve;
        }),
    };
    const harness = await createHarness({ journal });
    const sent = await harness.send("Go", { robot: "AMR01" });
    harness.clock.advance(10_000);
    release();
    await harness.clock.settle(0);
    release();
    await harness.clock.settle(0);
    expect(sent.outcome?.code).toBe("EXPIRED");
    expect(harness.calls).toEqual([]);
  });

  it("ROBOT_NOT_GOOD: nothing moves what is not known to be true now", async () => {
    const harness = await createHarness();
    for (const quality of ["stale", "offline", "lost", "unknown"] as const) {
      harness.quality.set("AMR01", quality);
      const sent = await harness.send("Go", { robot: "AMR01" });
      expect(sent.outcome).toMatchObject({
        code: "ROBOT_NOT_GOOD",
        message: `robot AMR01 is ${quality}: what it does now is not known, so nothing may move it`,
      });
    }
    expect(harness.calls).toEqual([]);
  });

  it("ROBOT_NOT_GOOD: also when it goes stale while the command waits", async () => {
    const harness = await createHarness();
    await harness.send("Go", { robot: "AMR01", to: "A" });
    const waiting = await harness.send("Go", { robot: "AMR01", to: "B" });
    harness.quality.set("AMR01", "stale");
    await harness.call(0).answer(OK);
    expect(waiting.outcome?.code).toBe("ROBOT_NOT_GOOD");
    expect(harness.calls).toHaveLength(1);
  });

  it("UNKNOWN_ROBOT: one that was never heard of", async () => {
    const harness = await createHarness();
    await harness.clock.settle(10_000);
    const sent = await harness.send("Go", { robot: "AMR99" });
    expect(sent.outcome).toMatchObject({
      code: "UNKNOWN_ROBOT",
      message: 'robot "AMR99" was never heard of',
    });
  });

  it("ROBOT_NOT_GOOD: one that nothing was heard of yet, as the gateway has just come up", async () => {
    const harness = await createHarness();
    await harness.clock.settle(9_999);
    const sent = await harness.send("Go", { robot: "AMR99" });
    expect(sent.outcome).toMatchObject({
      code: "ROBOT_NOT_GOOD",
      message: 'nothing has been heard of robot "AMR99" yet: the gateway has just come up',
    });
  });

  it("FLEET_UNREACHABLE: one that nothing was heard of, as there is no link to the service", async () => {
    const harness = await createHarness({ isLinkUp: false });
    await harness.clock.settle(60_000);
    const sent = await harness.send("Go", { robot: "AMR99" });
    expect(sent.outcome).toMatchObject({
      code: "FLEET_UNREACHABLE",
      message:
        'nothing has been heard of robot "AMR99" since the gateway started, and the service is not reached',
    });
  });

  it("UNKNOWN_ROBOT: two names that are not known to be one robot's", async () => {
    const harness = await createHarness();
    const early = await harness.send("Chain", { number: 7 });
    expect(early.outcome).toMatchObject({
      code: "ROBOT_NOT_GOOD",
      message: "nothing has been heard of robot number 7 yet: the gateway has just come up",
    });
    await harness.clock.settle(10_000);
    const sent = await harness.send("Chain", { number: 7 });
    expect(sent.outcome).toMatchObject({
      code: "UNKNOWN_ROBOT",
      message:
        "no robot_id is known for robot number 7, so it cannot be kept in order with that robot's missions",
    });
    await harness.see(presence("AMR01", 7));
    await harness.send("Chain", { number: 7 });
    expect(harness.calls).toHaveLength(1);
  });

  it("UNKNOWN_ROBOT: a task chain that the service does not know", async () => {
    const harness = await createHarness();
    const sent = await harness.send("Confirm", { chain: 12 });
    await harness.call(0).answer({ kind: "ok", responseJson: "{}", missionId: null });
    expect(sent.outcome).toMatchObject({
      code: "UNKNOWN_ROBOT",
      message: "the service knows no task chain 12",
    });
  });

  it("FLEET_UNREACHABLE: the robot of a task chain could not be asked for", async () => {
    const harness = await createHarness();
    const sent = await harness.send("Confirm", { chain: 12 });
    await harness.call(0).answer({ kind: "not_sent", message: "no connection" });
    expect(sent.outcome).toMatchObject({
      code: "FLEET_UNREACHABLE",
      message: "the robot of task chain 12 could not be asked for: no connection",
    });
  });

  it("QUEUE_FULL: past the bound of one robot, at once", async () => {
    const harness = await createHarness({ options: { maxQueue: 2 } });
    for (const to of ["A", "B", "C"]) await harness.send("Go", { robot: "AMR01", to });
    const sent = await harness.send("Go", { robot: "AMR01", to: "D" });
    expect(sent.outcome).toMatchObject({
      code: "QUEUE_FULL",
      message: "2 commands already wait behind the one in flight for this robot",
    });
    const other = await harness.send("Go", { robot: "AMR02", to: "D" });
    expect(other.stages).toEqual(["accepted", "sent"]);
  });

  it("QUEUE_FULL: past the bound of reads, and of the gateway", async () => {
    const harness = await createHarness({ options: { maxReads: 1 }, intake: { maxCommands: 2 } });
    await harness.send("Look", { robot: "AMR01" });
    const second = await harness.send("Look", { robot: "AMR01" });
    expect(second.outcome).toMatchObject({
      code: "QUEUE_FULL",
      message: "1 reads are already in flight here",
    });
    await harness.send("Go", { robot: "AMR01" });
    const third = await harness.send("Go", { robot: "AMR02" });
    expect(third.outcome?.message).toBe("too many commands wait for their outcome");
    const stop = await harness.send("Halt", { robot: "AMR02" });
    expect(stop.stages).toContain("sent");
  });

  it("CANCELED_BY_STOP: a start that still waits", async () => {
    const harness = await createHarness();
    await harness.send("Go", { robot: "AMR01", to: "A" });
    const waiting = await harness.send("Go", { robot: "AMR01", to: "B" });
    await harness.send("Halt", { robot: "AMR01" }, { requestId: "halt" });
    expect(waiting.outcome).toMatchObject({
      outcome: "refused",
      code: "CANCELED_BY_STOP",
      message: "the stop opcua:plc/halt overtook it before it was sent",
    });
    expect(harness.calls.map(({ operation }) => operation)).toEqual(["Go", "Halt"]);
  });

  it("FLEET_UNREACHABLE: it is certain that nothing left", async () => {
    const harness = await createHarness();
    const sent = await harness.send("Go", { robot: "AMR01" });
    await harness.call(0).answer({ kind: "not_sent", message: "no connection for 10 s" });
    expect(sent.outcome).toMatchObject({
      code: "FLEET_UNREACHABLE",
      message: "it was not sent: no connection for 10 s",
      retrySafe: true,
    });
  });

  it("FLEET_UNREACHABLE: what may be repeated, too, when it never left within its expiry", async () => {
    const harness = await createHarness();
    const sent = await harness.send("Halt", { robot: "AMR01" });
    for (let call = 0; sent.outcome === null; call += 1) {
      await harness.call(call).answer({ kind: "not_sent", message: "no connection" });
      await harness.clock.settle(2_000);
    }
    expect(sent.outcome).toMatchObject({
      outcome: "refused",
      code: "FLEET_UNREACHABLE",
      message: "it was not sent: no connection to the service, or no place on it, within its expiry",
    });
  });

  it("INTERNAL_FAULT: an answer that makes the gateway stumble before anything was sent", async () => {
    const harness = await createHarness();
    const sent = await harness.send("Confirm", { chain: 12 });
    await harness.call(0).answer({ kind: "ok", responseJson: "{", missionId: null });
    expect(sent.outcome).toMatchObject({
      outcome: "refused",
      code: "INTERNAL_FAULT",
      message: "a fault in the gateway; it was not sent",
    });
    expect(harness.calls).toHaveLength(1);
  });

  it("SHUTTING_DOWN: while the gateway drains", async () => {
    const harness = await createHarness();
    await harness.send("Go", { robot: "AMR01", to: "A" });
    const waiting = await harness.send("Go", { robot: "AMR01", to: "B" });
    const closing = harness.dispatcher.close(5_000);
    const late = await harness.send("Go", { robot: "AMR02" });
    const message = "the gateway is shutting down; it was not sent";
    expect(waiting.outcome).toMatchObject({ code: "SHUTTING_DOWN", message });
    expect(late.outcome).toMatchObject({ code: "SHUTTING_DOWN", message });
    await harness.call(0).answer(OK);
    await closing;
  });

  it("the service's own refusals keep their code and words", async () => {
    const harness = await createHarness();
    const sent = await harness.send("Go", { robot: "AMR01" });
    await harness
      .call(0)
      .answer({ kind: "refused", code: "FAILED_PRECONDITION", message: "it is on a mission" });
    expect(sent.outcome).toMatchObject({
      outcome: "refused",
      code: "FAILED_PRECONDITION",
      message: "it is on a mission",
      retrySafe: true,
    });
    expect(harness.events.at(-1)).toMatchObject({
      kind: "command",
      robotId: "AMR01",
      command: { source: { protocol: "opcua", name: "plc" }, requestId: "r1" },
      outcome: { code: "FAILED_PRECONDITION" },
    });
    expect(harness.audit.at(-1)).toMatchObject({ user: "plc", operation: "Go", code: "FAILED_PRECONDITION" });
  });
});
