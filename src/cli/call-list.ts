import type { DescribedOperation, OperationManual, RequestField } from "../contracts/operation-manual.ts";
import { effectsOf } from "./operation-facts.ts";

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
