import type { Effect, Role } from "../domain/command.ts";
import type { GrpcCodeName } from "../domain/errors.ts";
import type { Goal, MissionStateName, MissionType } from "../domain/mission.ts";
import type { operationStateNames, RobotId } from "../domain/robot.ts";

/** What is wrong with a request: where (a field path, or "") and what would be right. */
export interface Problem {
  readonly path: string;
  readonly message: string;
}

/**
 * The machine that a request concerns, by the name it uses. Missions name it by
 * robot_id, task chains by number: one physical robot has one queue, so the
 * dispatcher must bring the names together (docs/commands.md, Order).
 */
export type Subject =
  /** No robot, or a robot that the service chooses (amrId 0, a group). */
  | { readonly kind: "fleet" }
  | { readonly kind: "robot"; readonly robotId: RobotId }
  | { readonly kind: "robot_number"; readonly amrId: number }
  /** The robot that executes this task chain; if it is not known, `find` asks the service. */
  | { readonly kind: "task_chain"; readonly chainId: number; readonly find: ChainQuery };

declare const opaque: unique symbol;

/** A decoded request. Only `fleet/` opens it; other modules pass it on to FleetPort. */
export interface OpaqueRequest {
  readonly [opaque]?: never;
}

/** How to find out which robot executes a task chain. */
export interface ChainQuery {
  /** The read to send. */
  request(): OpaqueRequest;
  /** The robot's number in the parsed answer; 0: the chain has no robot yet; null: there is no such chain. */
  amrId(answer: unknown): number | null;
}

/** Whether a command may be sent again after an unknown ending. */
export type RepeatRule =
  | { readonly kind: "never" }
  | {
      readonly kind: "repeatable";
      /**
       * How long it is repeated. `expiry`: within the time that its sender gave it. `evidence`: after that
       * time also for as long as evidence would be sought. That is for commands that are as right late as in
       * time once they have left: CANCEL, and a conveyor's STOP.
       */
      readonly until: "expiry" | "evidence";
      /** Refusals of a repetition that mean success: the first call had done it. */
      readonly alreadyDone: readonly GrpcCodeName[];
    };

/** One read of the service that helps to find out what became of a command. */
export interface EvidenceQuery {
  /** Its operation, for the page of all operations. */
  readonly operation: string;
  /**
   * The read to send, made from the answers of the earlier queries (parsed, snake_case, defaults present).
   * Null: there is nothing to ask.
   */
  request(answers: readonly unknown[]): OpaqueRequest | null;
}

/**
 * What may show that a command had its effect, after an unknown ending. Without it
 * nothing is proven, and with it the effect is only likely: streams may drop messages,
 * and other clients act on the same robot. docs/commands.md, Requests, has it in words.
 */
export type EvidenceRule =
  /** Nothing that the service shows could be evidence. */
  | { readonly kind: "none" }
  /**
   * Exactly one mission that was not in the robot's list when the call left, of owner `api`, of one of these
   * types and with these goals. `{family: "none"}` means a type that is not set. Goals null: not compared.
   */
  | {
      readonly kind: "new_mission";
      readonly types: readonly MissionType[];
      readonly goals: readonly Goal[] | null;
    }
  /** This mission is seen in this state after the call left, and was in another state when it left. */
  | { readonly kind: "mission_state"; readonly missionId: string; readonly state: MissionStateName }
  /** Each of these conveyors is seen in this state after the call left. */
  | {
      readonly kind: "conveyor_state";
      readonly indexes: readonly number[];
      readonly operation: (typeof operationStateNames)[number];
    }
  /** The service is asked, one query after the other. */
  | {
      readonly kind: "query";
      readonly queries: readonly EvidenceQuery[];
      /**
       * Present if the state before the call matters: then the queries are also asked before it leaves. It
       * makes a small JSON value of their answers, which the journal keeps with the command. May throw on an
       * odd answer.
       */
      readonly baseline?: (answers: readonly unknown[]) => unknown;
      /**
       * The message and the values that are the evidence, as one sentence; null: there is none. `baseline` is
       * null if it was not asked for, or could not be read. May throw on an odd answer: that is no evidence.
       */
      readonly evaluate: (answers: readonly unknown[], baseline: unknown) => string | null;
    };

/** The destination of a start, as far as its request shows it. */
export type Destination =
  /** To these goals: names of destinations, or codes of points. */
  | { readonly kind: "goals"; readonly names: readonly string[] }
  /**
   * The robot continues with this mission (empty: its current one), with its next goal, or with the next
   * mission.
   */
  | { readonly kind: "mission" | "next_goal" | "next_mission"; readonly missionId: string };

/** A valid request of the operation. */
export interface ParsedRequest {
  /** Canonical proto3 JSON: camelCase, defaults left out. Equal requests have equal text. */
  readonly json: string;
  /** The same, decoded, for FleetPort. */
  readonly payload: OpaqueRequest;
  /** The robot that the request names by robot_id; null: it names none, or names it by number. */
  readonly robotId: RobotId | null;
  /** The effect of this request: UpdateMission stops with COMMAND_CANCEL and moves with COMMAND_RESUME. */
  readonly effect: Effect;
  readonly subject: Subject;
  readonly repeat: RepeatRule;
  readonly evidence: EvidenceRule;
  /**
   * Path (camelCase) of a text in the request that, if it is empty, is filled with the command's identity
   * before it is sent: AddTaskChain's `taskChain.taskSeq`. The evidence rule of the filled request is then
   * asked for again.
   */
  readonly identityField: readonly string[] | null;
  /** The conveyors that it starts and those that it stops, by index; null: it concerns none. */
  readonly conveyors: { readonly started: readonly number[]; readonly stopped: readonly number[] } | null;
  /** Null: it has no destination, or the request does not show it. */
  readonly destination: Destination | null;
  /**
   * What it starts or stops, by name: `conveyor 1`, `mission m-1`, `robot`. A start undoes an earlier stop
   * that has a name in common with it.
   */
  readonly switches: readonly string[];
}

/** The result of reading a request. */
export type Parsed =
  | { readonly ok: true; readonly request: ParsedRequest }
  | { readonly ok: false; readonly problem: Problem };

/** One operation of the fleet service, without its messages. */
export interface Operation {
  readonly name: string;
  /** The role that a source needs. */
  readonly role: Role;
  /** Paths (camelCase) of maps in a request whose values are secrets: no log shows them. */
  readonly secretMaps?: readonly (readonly string[])[];
  /** Reads proto3 JSON in either spelling, strictly: an unknown field is a problem. */
  parse(json: unknown): Parsed;
}

/** Every operation by name. */
export type Catalogue = ReadonlyMap<string, Operation>;
