import type { Effect, Role } from "../domain/command.ts";
import type { RobotId } from "../domain/robot.ts";

/** What is wrong with a request: where (a field path, or "") and what would be right. */
export interface Problem {
  readonly path: string;
  readonly message: string;
}

/** A request that has the operation's shape. */
export interface ParsedRequest {
  /** Canonical proto3 JSON: camelCase, defaults left out. Equal requests have equal text. */
  readonly json: string;
  /** The robot that the request names by robot_id; null when it names none, or by number. */
  readonly robotId: RobotId | null;
  /** The operation's effect for this very request: UpdateMission stops with COMMAND_CANCEL and moves with COMMAND_RESUME. */
  readonly effect: Effect;
}

/** One operation of the interface document, without its messages. */
export interface Operation {
  readonly name: string;
  /** The role that a source needs. */
  readonly role: Role;
  /** Reads proto3 JSON in either spelling, strictly: an unknown field is a problem. */
  parse(
    json: unknown,
  ):
    | { readonly ok: true; readonly request: ParsedRequest }
    | { readonly ok: false; readonly problem: Problem };
}

/** Every operation by name. */
export type Catalogue = ReadonlyMap<string, Operation>;
