import type { EvidenceRule, ParsedRequest } from "../contracts/operation.ts";
import type {
  DescribedOperation,
  OperationManual,
  RequestExample,
  RequestField,
} from "../contracts/operation-manual.ts";
import type { Effect } from "../domain/command.ts";

/** An example request, as the catalogue parses it. */
export interface ExampleFacts {
  readonly title: string;
  readonly request: unknown;
  readonly parsed: ParsedRequest;
}

/** The examples of an operation, each parsed. */
export function factsOf(operation: DescribedOperation): readonly ExampleFacts[] {
  return operation.examples.map((example) => ({ ...example, parsed: parsedExample(operation, example) }));
}

function parsedExample(operation: DescribedOperation, { title, request }: RequestExample): ParsedRequest {
  const parsed = operation.parse(request);
  if (!parsed.ok) throw new Error(`${operation.name}, ${title}: ${parsed.problem.message}`);
  return parsed.request;
}

/** The effects that requests of an operation may have, each once. */
export function effectsOf(operation: DescribedOperation): readonly Effect[] {
  return [...new Set(factsOf(operation).map(({ parsed }) => parsed.effect))];
}

/**
 * The operations by what the gateway does if the end of their call is not known. If the requests of an
 * operation differ, the kind of request is named too.
 */
export interface UnknownEndings {
  readonly repeated: readonly string[];
  readonly sought: readonly string[];
  readonly never: readonly string[];
}

/**
 * Sorts the operations that have an effect by what follows an unknown ending (docs/commands.md, Operations).
 */
export function unknownEndings(manual: OperationManual): UnknownEndings {
  const endings = { repeated: new Set<string>(), sought: new Set<string>(), never: new Set<string>() };
  for (const operation of manual.values()) {
    const facts = factsOf(operation).filter(({ parsed }) => parsed.effect !== "reads");
    const kinds = new Set(facts.map(({ parsed }) => kindOf(parsed)));
    for (const { title, parsed } of facts) {
      endings[kindOf(parsed)].add(kinds.size > 1 ? `${operation.name} (${title})` : operation.name);
    }
  }
  return { repeated: [...endings.repeated], sought: [...endings.sought], never: [...endings.never] };
}

function kindOf({ repeat, evidence, identityField }: ParsedRequest): keyof UnknownEndings {
  if (repeat.kind === "repeatable") return "repeated";
  // The gateway can look for a command by the identity that it fills in.
  return evidence.kind === "none" && identityField === null ? "never" : "sought";
}

/** The evidence of a command, as one phrase. */
export function evidenceText(evidence: EvidenceRule): string {
  switch (evidence.kind) {
    case "none":
      return "none";
    case "new_mission":
      return evidence.goals === null
        ? "the mission stream shows exactly one new mission of owner api and this type"
        : "the mission stream shows exactly one new mission of owner api with this type and these goals";
    case "mission_state":
      return `the mission stream shows ${evidence.state} after another state`;
    case "conveyor_state":
      return `the conveyor stream shows ${evidence.operation} for each conveyor`;
    case "query":
      return `${evidence.queries.map(({ operation }) => operation).join(", then ")}${
        evidence.baseline === undefined ? "" : ", before and after the call"
      }`;
  }
}

/** Every operation in a line. */
export function operationList(manual: OperationManual): string {
  const operations = [...manual.values()].map((operation) => ({
    name: operation.name,
    effects: effectsOf(operation).join(", "),
    role: operation.role,
    summary: operation.summary,
  }));
  const widthOf = (key: "name" | "effects" | "role") =>
    Math.max(...operations.map((each) => each[key].length));
  const [name, effects, role] = [widthOf("name"), widthOf("effects"), widthOf("role")];
  return operations
    .map((each) =>
      [each.name.padEnd(name), each.effects.padEnd(effects), each.role.padEnd(role), each.summary].join("  "),
    )
    .join("\n");
}

/** One operation with its fields and requests to copy. */
export function operationPage(operation: DescribedOperation): string {
  const fields = operation.fields.flatMap((field) => fieldLines(field, "  ", []));
  const examples = operation.examples.map(
    ({ title, request }) => `  ${title}\n    ${JSON.stringify(request)}`,
  );
  return [
    `${operation.name}: ${operation.summary}`,
    `${effectsOf(operation).join(", ")}; for ${operation.role} and above`,
    ...(fields.length === 0 ? ["", "no fields"] : ["", "fields", ...fields]),
    "",
    "examples",
    ...examples,
  ].join("\n");
}

/** A field and its inner fields, a line each, without the inner fields of the messages in `folded`. */
export function fieldLines(
  field: RequestField,
  indent: string,
  folded: readonly string[],
): readonly string[] {
  const marks = [
    field.isList ? `list of ${field.type}` : field.type,
    ...(field.isRequired ? ["required"] : []),
    ...(field.oneOf === null ? [] : [`one of ${field.oneOf}`]),
  ];
  const values = field.values.length === 0 ? [] : [`${indent}    ${field.values.join(", ")}`];
  const inner = folded.includes(field.type) ? [] : field.fields;
  return [
    `${indent}${field.jsonName}: ${marks.join(", ")}`,
    ...values,
    ...inner.flatMap((each) => fieldLines(each, `${indent}  `, folded)),
  ];
}
