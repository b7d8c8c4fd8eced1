import type { Operation } from "./operation.ts";

/** One field of a request, as proto/ names it. */
export interface RequestField {
  /** snake_case. */
  readonly name: string;
  /** camelCase. Requests may use either. */
  readonly jsonName: string;
  /** `string`, `int32`, `bool`, …, `map`, or the name of a message or an enum. */
  readonly type: string;
  readonly isList: boolean;
  readonly isRequired: boolean;
  /** The group of which at most one field may be set; null where the field is in none. */
  readonly oneOf: string | null;
  /** The names of an enum; none for every other type. */
  readonly values: readonly string[];
  /** The fields of a message; none for every other type. */
  readonly fields: readonly RequestField[];
}

/** A request that can be copied, with what it asks for. */
export interface RequestExample {
  readonly title: string;
  readonly request: unknown;
}

/** An operation with what a person needs to use it: for documentation and the command line. */
export interface DescribedOperation extends Operation {
  /** What it does, as one sentence. */
  readonly summary: string;
  readonly fields: readonly RequestField[];
  /** One for each kind of effect that a request of it may have, and at least one. */
  readonly examples: readonly RequestExample[];
  /** Path (camelCase) of the field that names the robot, by id or by number; null where none does. */
  readonly robotField: { readonly path: readonly string[]; readonly by: "id" | "number" } | null;
}

/** Every operation by name: a catalogue that explains itself. */
export type OperationManual = ReadonlyMap<string, DescribedOperation>;
