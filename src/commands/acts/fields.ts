import { ACT_TEXT_CHARACTERS, type ActField, type ActName, type ActRule, acts } from "../../domain/acts.ts";
import { quoted } from "../../domain/clip.ts";
import { isPlainText } from "../../domain/refusals.ts";
import { isJsonObject, type JsonObject } from "../../platform/json.ts";

type ReadFields =
  | { readonly ok: true; readonly fields: JsonObject }
  | { readonly ok: false; readonly reason: string };

const checks: Readonly<Record<ActField["type"], { readonly expected: string; is(value: unknown): boolean }>> =
  {
    text: {
      expected: `must be text of 1 to ${ACT_TEXT_CHARACTERS} printable characters`,
      is: (value) => isPlainText(value, ACT_TEXT_CHARACTERS),
    },
    boolean: { expected: "must be true or false", is: (value) => typeof value === "boolean" },
    integer: { expected: "must be a whole number", is: Number.isSafeInteger },
  };

/** Reads the fields of an act strictly: an unknown field is refused, never ignored. */
export function readFields(name: ActName, value: unknown): ReadFields {
  const { fields }: ActRule = acts[name];
  const wrong = (reason: string): ReadFields => ({ ok: false, reason });
  if (!isJsonObject(value)) return wrong(`${name} must be a JSON object with ${listed(fields)}`);
  const unknown = Object.keys(value).find((key) => !Object.hasOwn(fields, key));
  if (unknown !== undefined)
    return wrong(`${quoted(unknown)}: is not a field of ${name}; it has ${listed(fields)}`);
  for (const [field, { type, isOptional }] of Object.entries(fields)) {
    const given = Object.hasOwn(value, field) ? value[field] : undefined;
    if (given === undefined && isOptional === true) continue;
    if (given === undefined) return wrong(`${field}: is missing`);
    if (!checks[type].is(given)) return wrong(`${field}: ${checks[type].expected}`);
  }
  return { ok: true, fields: value };
}

function listed(fields: ActRule["fields"]): string {
  const names = Object.keys(fields);
  return names.length === 1 ? `${names[0]}` : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}
