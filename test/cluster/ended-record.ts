import type { JournalRecord } from "../../src/commands/journal/journal.ts";
import { ending } from "../../src/domain/outcome.ts";

/** A start that was sent, and has succeeded. */
export const recordOf = (id: string): JournalRecord => ({
  id,
  digest: "d",
  command: {
    source: { protocol: "opcua", name: "plc" },
    requestId: id,
    operation: "Go",
    effect: "moves",
    robotId: "r1",
    requestJson: "{}",
    startByMs: 0,
  },
  queue: "r1",
  robotId: "r1",
  acceptedAtMs: 1,
  sentAtMs: 2,
  finalAtMs: 3,
  sentJson: "{}",
  baseline: null,
  outcome: ending("succeeded", "OK", "", false),
});
