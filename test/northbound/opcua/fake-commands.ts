import type { Commander } from "../../../src/contracts/commander.ts";
import type { Subject } from "../../../src/contracts/operation.ts";
import type { DescribedOperation, OperationManual } from "../../../src/contracts/operation-manual.ts";
import type { Command, CommandStage, Effect } from "../../../src/domain/command.ts";
import { ending, type Outcome } from "../../../src/domain/outcome.ts";
import { isJsonObject, type JsonObject } from "../../../src/platform/json.ts";

/** A command that reached the commander, for a test to let go on. */
interface Submitted {
  readonly command: Command;
  stage(stage: CommandStage): void;
  end(outcome: Outcome): void;
  fail(error: Error): void;
}

export interface FakeCommander extends Commander {
  readonly submitted: readonly Submitted[];
  /** Resolves with the next command that nobody has taken yet. */
  next(): Promise<Submitted>;
}

/** Holds every command until the test ends it. */
export function createFakeCommander(): FakeCommander {
  const submitted: Submitted[] = [];
  const untaken: Submitted[] = [];
  const waiting: Array<(submitted: Submitted) => void> = [];
  return {
    submitted,
    submit(command, _signal, onStage = () => {}) {
      return new Promise((end, fail) => {
        const entry = { command, stage: onStage, end, fail };
        submitted.push(entry);
        const waiter = waiting.shift();
        if (waiter === undefined) untaken.push(entry);
        else waiter(entry);
      });
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
    fields: [],
    examples: [],
    robotField: { path: ["robotId"], by: "id" },
    parseText(text: string) {
      return this.parse(JSON.parse(text));
    },
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
