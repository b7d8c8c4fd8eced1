import type { Intake } from "../../../src/commands/intake/intake.ts";
import type { Rights } from "../../../src/commands/options.ts";
import type { Commander, CommandRecords, RefusalAudit } from "../../../src/contracts/commander.ts";
import type { Catalogue, Subject } from "../../../src/contracts/operation.ts";
import type { DescribedOperation, OperationManual } from "../../../src/contracts/operation-manual.ts";
import { type Command, type CommandStage, commandId, type Effect } from "../../../src/domain/command.ts";
import { ending, type Outcome } from "../../../src/domain/outcome.ts";
import { type Clock, systemClock } from "../../../src/platform/clock.ts";
import { isJsonObject, type JsonObject } from "../../../src/platform/json.ts";
import {
  allRights,
  createFakeExecution,
  createTestIntake,
  tellRefusals,
} from "../../support/intake-harness.ts";

/** A command that reached the commander; a test lets it continue. */
interface Submitted {
  readonly command: Command;
  stage(stage: CommandStage): void;
  end(outcome: Outcome): void;
  fail(error: Error): void;
}

/** What the intake of a fake commander is made of. */
export interface Served {
  readonly catalogue: Catalogue;
  readonly clock: Clock;
  readonly rights?: Rights;
  /** Hears of every refusal. */
  readonly refused?: RefusalAudit["refused"];
}

/** The real intake, and behind it no dispatcher but the test. */
export interface FakeCommander extends Commander, RefusalAudit, Pick<CommandRecords, "knows"> {
  readonly submitted: readonly Submitted[];
  /** Resolves with the next command that nobody has taken yet. */
  next(): Promise<Submitted>;
  /** Begins anew with another intake; what was submitted stays. */
  serve(served: Served): void;
}

/** Holds every command until the test ends it. */
export function createFakeCommander(): FakeCommander {
  const submitted: Submitted[] = [];
  const untaken: Submitted[] = [];
  const waiting: Array<(submitted: Submitted) => void> = [];
  let execution = createFakeExecution(hold);
  let intake = intakeOf({ catalogue: fakeCatalogue(), clock: systemClock });

  function hold(command: Command, stage: Submitted["stage"]): Promise<Outcome> {
    return new Promise((end, fail) => {
      const entry = { command, stage, end, fail };
      submitted.push(entry);
      const waiter = waiting.shift();
      if (waiter === undefined) untaken.push(entry);
      else waiter(entry);
    });
  }

  function intakeOf({ catalogue, clock, rights = allRights, refused = () => {} }: Served): Intake {
    execution = createFakeExecution(hold, refused);
    return createTestIntake({ catalogue, clock, execution, rights, audit: tellRefusals(refused) });
  }

  return {
    submitted,
    submit: (...args) => intake.submit(...args),
    read: (...args) => intake.read(...args),
    check: (...args) => intake.check(...args),
    refused: (...args) => intake.refused(...args),
    knows: (source, requestId) => execution.find(commandId({ source, requestId })) !== null,
    serve(served) {
      intake = intakeOf(served);
    },
    next() {
      const entry = untaken.shift();
      return entry === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(entry);
    },
  };
}

export function succeeded(missionId: string | null): Outcome {
  return { ...ending("succeeded", "OK", "", true), missionId };
}

/** Operations that take any object with a robotId (or an amrId), and have one effect. */
export function fakeCatalogue(effect: Effect = "moves"): OperationManual {
  const names = ["CreateMission", "UpdateMission", "ControlConveyor", "PauseRobot"];
  return new Map(names.map((name) => [name, fakeOperation(name, effect)]));
}

function fakeOperation(name: string, effect: Effect): DescribedOperation {
  return {
    name,
    role: "operator",
    summary: `does ${name}`,
    german: { name: `${name} (de)`, summary: `tut ${name}` },
    fields: [],
    examples: [],
    robotField: { path: ["robotId"], by: "id" },
    parse(json) {
      const subject = isJsonObject(json) ? subjectOf(json) : null;
      if (subject === null) return { ok: false, problem: { path: "robotId", message: "is required" } };
      return {
        ok: true,
        request: {
          json: JSON.stringify(json),
          payload: {},
          robotId: subject.kind === "robot" ? subject.robotId : null,
          effect,
          subject,
          repeat: { kind: "never" },
          evidence: { kind: "none" },
          identityField: null,
          conveyors: null,
          switches: [],
          destination: null,
        },
      };
    },
  };
}

function subjectOf({
  robotId,
  amrId,
}: JsonObject): Extract<Subject, { kind: "robot" | "robot_number" }> | null {
  if (typeof robotId === "string") return { kind: "robot", robotId };
  return typeof amrId === "number" ? { kind: "robot_number", amrId } : null;
}
