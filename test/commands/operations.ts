import type { MakeStopRequest } from "../../src/contracts/fleet-port.ts";
import type {
  Catalogue,
  EvidenceRule,
  Operation,
  ParsedRequest,
  Subject,
} from "../../src/contracts/operation.ts";
import type { Role } from "../../src/domain/command.ts";
import { isJsonObject } from "../../src/platform/json.ts";
import { testRequest } from "../support/test-requests.ts";

/**
 * A catalogue of operations that no service has: the dispatcher must work from
 * what a catalogue says of them, not from their names.
 */
export const testCatalogue: Catalogue = new Map(
  [
    operation("Go", "operator", (json) => ({
      ...onRobot(json),
      effect: "moves",
      evidence: {
        kind: "new_mission",
        types: [{ family: "base", type: "BASE_TYPE_NAVIGATE" }],
        goals: [{ kind: "destination", destinationId: String(json.to) }],
      },
      destination: { kind: "goals", names: String(json.to).split(",") },
    })),
    operation("Resume", "operator", (json) => ({
      ...onRobot(json),
      effect: "moves",
      evidence: { kind: "mission_state", missionId: String(json.mission), state: "STATE_RUNNING" },
      destination: { kind: "mission", missionId: String(json.mission) },
    })),
    operation("Skip", "operator", (json) => ({
      ...onRobot(json),
      effect: "moves",
      destination: { kind: "next_goal", missionId: "" },
    })),
    operation("Halt", "operator", (json) => ({
      ...onRobot(json),
      effect: "stops",
      repeat: { kind: "repeatable", until: "evidence", alreadyDone: ["FAILED_PRECONDITION"] },
    })),
    operation("StopBelts", "operator", (json) => ({
      ...onRobot(json),
      effect: "stops",
      repeat: { kind: "repeatable", until: "evidence", alreadyDone: [] },
      evidence: { kind: "conveyor_state", indexes: beltsOf(json), operation: "OPERATION_STATE_STOP" },
      conveyors: { started: [], stopped: beltsOf(json) },
      switches: beltsOf(json).map((belt) => `conveyor ${belt}`),
    })),
    operation("RollBelts", "operator", (json) => ({
      ...onRobot(json),
      effect: "moves",
      conveyors: { started: beltsOf(json), stopped: [] },
      switches: beltsOf(json).map((belt) => `conveyor ${belt}`),
    })),
    operation("Look", "observer", (json) => ({
      ...onRobot(json),
      effect: "reads",
      repeat: { kind: "repeatable", until: "expiry", alreadyDone: [] },
    })),
    operation("Register", "engineer", (json) => ({ effect: "changes", evidence: listed(String(json.name)) })),
    operation("Chain", "operator", (json) => ({
      effect: "moves",
      subject: { kind: "robot_number", amrId: Number(json.number) },
      identityField: ["chain", "reference"],
    })),
    operation("Confirm", "operator", (json) => ({ effect: "moves", subject: onChain(json) })),
    operation("Drop", "operator", (json) => ({
      effect: "stops",
      subject: onChain(json),
      evidence: {
        kind: "query",
        queries: [{ operation: "FindChain", request: () => testRequest("FindChain", "{}") }],
        baseline: (answers) => isJsonObject(answers[0]) && answers[0].open === true,
        evaluate: (answers, wasOpen) =>
          wasOpen === true && isJsonObject(answers[0]) && answers[0].open === false
            ? "FindChain shows it closed, and it was open"
            : null,
      },
    })),
  ].map((each) => [each.name, each]),
);

/** The stops that the gateway sends of itself, as operations of the catalogue. */
export const testStopRequest: MakeStopRequest = (robot, stop) => {
  if (stop.kind === "stop_conveyors")
    return { operation: "StopBelts", request: { robot, belts: stop.indexes } };
  const what = stop.kind === "pause_mission" ? { mission: stop.missionId } : { number: stop.amrId };
  return { operation: "Halt", request: { robot, ...what } };
};

function operation(
  name: string,
  role: Role,
  describe: (
    json: Readonly<Record<string, unknown>>,
  ) => Partial<ParsedRequest> & Pick<ParsedRequest, "effect">,
): Operation {
  return {
    name,
    role,
    parse(json) {
      if (!isJsonObject(json)) return { ok: false, problem: { path: "", message: "an object is wanted" } };
      if ("bad" in json) return { ok: false, problem: { path: "bad", message: "there is no such field" } };
      return {
        ok: true,
        request: {
          json: JSON.stringify(json),
          payload: testRequest(name, JSON.stringify(json)),
          robotId: null,
          subject: { kind: "fleet" },
          repeat: { kind: "never" },
          evidence: { kind: "none" },
          identityField: null,
          conveyors: null,
          switches: [],
          destination: null,
          ...describe(json),
        },
      };
    },
  };
}

/** The conveyors of a request; both where it names none. */
function beltsOf({ belts }: Readonly<Record<string, unknown>>): readonly number[] {
  return Array.isArray(belts) ? belts : [0, 1];
}

function onChain(json: Readonly<Record<string, unknown>>): Subject {
  return {
    kind: "task_chain",
    chainId: Number(json.chain),
    find: {
      request: () => testRequest("FindChain", JSON.stringify({ chain: json.chain })),
      amrId: (answer) => (isJsonObject(answer) && typeof answer.number === "number" ? answer.number : null),
    },
  };
}

function onRobot(json: Readonly<Record<string, unknown>>) {
  const robotId = String(json.robot);
  return { robotId, subject: { kind: "robot", robotId } as const };
}

/** Found when one more of this name is listed than before. */
function listed(name: string): EvidenceRule {
  const count = (answers: readonly unknown[]) => {
    const [answer] = answers;
    const names = isJsonObject(answer) && Array.isArray(answer.names) ? answer.names : [];
    return names.filter((other) => other === name).length;
  };
  return {
    kind: "query",
    queries: [{ operation: "List", request: () => testRequest("List", "{}") }],
    baseline: count,
    evaluate: (answers, baseline) =>
      typeof baseline === "number" && count(answers) === baseline + 1 ? `List names ${name} once more` : null,
  };
}
