import { expect, it } from "vitest";
import type { CallEnding } from "../../src/contracts/fleet-port.ts";
import { createMemoryJournal } from "../support/memory-journal.ts";
import { createHarness, LOST, OK, sharedCommands } from "./commands-harness.ts";

const robot = "AMR01";
const halt = { robotId: robot, operation: "Halt", requestJson: JSON.stringify({ robot }) };
const UNREACHABLE = { kind: "not_sent", message: "no session" } as const;

/** A start got no answer, and another member has sent a stop meanwhile. */
async function startInDoubt() {
  let isLeading = true;
  const journal = createMemoryJournal({ keepMs: 3_600_000, keepCount: 1_000 });
  const shared = sharedCommands({ isLeading: () => isLeading });
  const harness = await createHarness({ journal, shared });
  const start = await harness.send("Skip", { robot }, { requestId: "start" });
  harness.dispatcher.elsewhere.stop(halt);
  await harness.call(0).answer(LOST);
  const leadNoMore = () => {
    isLeading = false;
  };
  let answered = 1;
  /** The service does not answer stops. */
  async function silence(durationMs: number): Promise<void> {
    const untilMs = harness.clock.monotonicMs() + durationMs;
    while (harness.clock.monotonicMs() < untilMs) {
      await harness.clock.advance(500);
      for (; answered < harness.calls.length; answered += 1)
        await harness.calls[answered]?.answer(answered % 2 === 0 ? LOST : UNREACHABLE);
    }
  }
  async function answerNext(ending: CallEnding): Promise<void> {
    while (harness.calls.length === answered) await harness.clock.advance(500);
    await harness.call(answered).answer(ending);
    await harness.clock.advance(1_000);
  }
  return { answerNext, harness, journal, start, leadNoMore, silence };
}

it("a stop of another member is sent again until the service answers, and no start leaves before", async () => {
  const { answerNext, harness, start, silence } = await startInDoubt();
  const startByMs = harness.clock.nowMs() + 600_000;
  const next = await harness.send("Skip", { robot }, { requestId: "next", startByMs });
  // Four times the time in which one stop may leave.
  await silence(40_000);
  const operations = harness.calls.map(({ operation }) => operation);
  expect(operations.slice(1)).toEqual(operations.slice(1).map(() => "Halt"));
  expect(start.outcome).toBeNull();
  expect(next.outcome).toMatchObject({ outcome: "refused", code: "CANCELED_BY_STOP" });
  await answerNext(OK);
  expect(start.outcome).toMatchObject({ outcome: "unknown", code: "DEADLINE_EXCEEDED" });
  await harness.send("Skip", { robot }, { requestId: "later" });
  expect(harness.calls.at(-1)?.operation).toBe("Skip");
});

it("a stop that is owed is left to the next leader: its start's record has no outcome", async () => {
  const { journal, start, leadNoMore, silence } = await startInDoubt();
  await silence(5_000);
  leadNoMore();
  await silence(80_000);
  expect(start.outcome).toMatchObject({
    outcome: "unknown",
    message: expect.stringMatching("not on the disk yet"),
  });
  expect(journal.unfinished()).toMatchObject([{ id: "opcua:plc/start" }]);
});
