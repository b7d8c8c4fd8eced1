import { beforeEach } from "vitest";
import type { AuditRecord } from "../../../src/commands/audit/audit.ts";
import type { Intake } from "../../../src/commands/intake/intake.ts";
import type { Execution } from "../../../src/commands/intake/request.ts";
import type { IntakeOptions, Rights } from "../../../src/commands/options.ts";
import type { Envelope } from "../../../src/contracts/commander.ts";
import type { Catalogue } from "../../../src/contracts/operation.ts";
import type { Command } from "../../../src/domain/command.ts";
import { ending, type Outcome } from "../../../src/domain/outcome.ts";
import type { Log } from "../../../src/platform/log.ts";
import { createFakeExecution, createTestIntake } from "../../support/intake-harness.ts";
import { createManualClock, type ManualClock } from "../../support/manual-clock.ts";
import { testCatalogue } from "../operations.ts";

export const plc = { protocol: "opcua", name: "plc" } as const;
export const done = ending("succeeded", "OK", "", true);

interface Begun {
  readonly command: Command;
  end(outcome?: Outcome): void;
  fail(error: Error): void;
}

export let clock: ManualClock;
export let begun: Begun[];
export let audit: AuditRecord[];
/** What the dispatcher was told to refuse: with an event. */
export let refused: Array<{ readonly command: Command; readonly outcome: Outcome }>;
export let reads: number;
export let intake: Intake;

export const execution = () =>
  createFakeExecution(
    (command) =>
      new Promise((end, fail) => begun.push({ command, end: (outcome = done) => end(outcome), fail })),
    (command, outcome) => void refused.push({ command: command as Command, outcome }),
  );

export function open(
  options: Partial<IntakeOptions> = {},
  parts: { rights?: Rights; execution?: Execution; catalogue?: Catalogue; log?: Log } = {},
): void {
  const counting: Catalogue = new Map(
    [...(parts.catalogue ?? testCatalogue)].map(([name, operation]) => [
      name,
      {
        ...operation,
        parse(json) {
          reads += 1;
          return operation.parse(json);
        },
      },
    ]),
  );
  intake = createTestIntake({
    execution: execution(),
    ...parts,
    catalogue: counting,
    clock,
    options,
    audit: (record) => audit.push(record),
  });
}

export function eachWithItsIntake(): void {
  beforeEach(() => {
    clock = createManualClock();
    [begun, audit, refused, reads] = [[], [], [], 0];
    open();
  });
}

export function envelope(changes: Partial<Envelope> = {}): Envelope {
  return {
    source: plc,
    requestId: "r1",
    operation: "Go",
    request: { json: { robot: "AMR01", to: "A" } },
    ...changes,
  };
}

export const submit = (changes: Partial<Envelope> = {}) => intake.submit(envelope(changes), null);

export function begunAt(place: number): Begun {
  const found = begun[place];
  if (found === undefined) throw new Error(`there is no command ${place}, only ${begun.length}`);
  return found;
}
