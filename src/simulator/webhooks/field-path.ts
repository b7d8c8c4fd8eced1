import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { readField } from "./envelope.ts";
import { type Leaf, leafDefault, leafOf } from "./scalar.ts";

/** One step of a path: a field, and the index of an element if it is a list. */
interface Step {
  readonly field: DescField;
  readonly index: number | undefined;
}

/** A path of an event's state that ends at a scalar. */
export interface FieldPath {
  readonly steps: readonly Step[];
  readonly leaf: Leaf;
}

/** The value that a path finds in an event. `isSet` is false for the default of a oneof's unset member. */
export interface Found {
  readonly value: unknown;
  readonly isSet: boolean;
}

/**
 * Resolves a snake_case path that starts with `state` (docs/internals/service.md, WHK-09).
 * A string says, in one sentence, why it does not resolve.
 */
export function resolvePath(schema: DescMessage, path: string): FieldPath | string {
  const [root, ...names] = path.split(".");
  if (root !== "state" || names.length === 0) return `${path} does not start with "state."`;
  const steps: Step[] = [];
  let message: DescMessage | undefined = schema;
  let leaf: Leaf | undefined;
  while (names.length > 0) {
    const name = names.shift() ?? "";
    const field: DescField | undefined = message?.fields.find((candidate) => candidate.name === name);
    if (field === undefined) return `${path}: there is no field ${JSON.stringify(name)} there`;
    if (field.fieldKind === "map") return `${path}: a map cannot be reached into`;
    const index = field.fieldKind === "list" ? readIndex(names.shift()) : undefined;
    if (field.fieldKind === "list" && index === undefined)
      return `${path}: ${name} is a list and wants an index`;
    steps.push({ field, index });
    leaf = leafOf(field);
    message = leaf === undefined ? field.message : undefined;
  }
  return leaf === undefined ? `${path} names a whole message, not a scalar` : { steps, leaf };
}

/** The value at a path; undefined: the path leads into an unset message, or beyond a list. */
export function findAt({ steps, leaf }: FieldPath, state: object): Found | undefined {
  let at: unknown = state;
  let isSet = true;
  for (const { field, index } of steps) {
    if (typeof at !== "object" || at === null) return undefined;
    const { isMember, value } = readField(field, at);
    isSet = !isMember || value !== undefined;
    at = index === undefined ? value : (value as readonly unknown[])[index];
    if (at === undefined && index !== undefined) return undefined;
  }
  const value = at ?? leafDefault(leaf);
  return value === undefined ? undefined : { value, isSet };
}

function readIndex(segment: string | undefined): number | undefined {
  return segment !== undefined && /^(0|[1-9]\d{0,8})$/.test(segment) ? Number(segment) : undefined;
}
