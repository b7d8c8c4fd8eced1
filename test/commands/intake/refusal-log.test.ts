import { expect, it } from "vitest";
import { createRefusals } from "../../../src/commands/intake/refusals.ts";
import { refusal } from "../../../src/domain/outcome.ts";
import { silentLog } from "../../../src/platform/log.ts";
import { createManualClock } from "../../support/manual-clock.ts";

it("a refusal that its protocol has logged is audited, and has no second line in the log", () => {
  const logged: unknown[] = [];
  const audited: unknown[] = [];
  const refusals = createRefusals({
    clock: createManualClock(),
    log: { ...silentLog, warn: (fields) => void logged.push(fields) },
    audit: (record) => void audited.push(record),
    execution: { reported: (_effect, outcome) => outcome },
  });
  const source = { protocol: "mqtt", name: "plc1" } as const;
  const request = { source, requestId: null, operation: "log_on", robotId: null };
  refusals.refused({ ...request, isLogged: true }, refusal("NOT_ALLOWED", "wrong password"));
  expect([logged.length, audited.length]).toEqual([0, 1]);
  refusals.refused(request, refusal("NOT_ALLOWED", "wrong password"));
  expect([logged.length, audited.length]).toEqual([1, 2]);
});
