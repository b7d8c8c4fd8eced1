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
  /** The group of which at most one field may be set; null: the field is in none. */
  readonly oneOf: string | null;
  /** The names of an enum; none for every other type. */
  readonly values: readonly string[];
  /** The fields of a message; none for every other type. */
  readonly fields: readonly RequestField[];
}

/** A request to copy, with a description. */
export interface RequestExample {
  readonly title: string;
  readonly request: unknown;
}

/** An operation with all that documentation and the command line show of it. */
export interface DescribedOperation extends Operation {
  /** What it does, as one sentence. */
  readonly summary: string;
  /** Its name and its summary in German. */
  readonly german: { readonly name: string; readonly summary: string };
  readonly fields: readonly RequestField[];
  /** One for each kind of effect that its requests may have, and at least one. */
  readonly examples: readonly RequestExample[];
  /** Path (camelCase) of the field that names the robot, by id or by number; null: no field does. */
  readonly robotField: { readonly path: readonly string[]; readonly by: "id" | "number" } | null;
}

/** Every operation by name, with its documentation. */
export type OperationManual = ReadonlyMap<string, DescribedOperation>;
