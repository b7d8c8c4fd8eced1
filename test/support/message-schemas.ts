import { Ajv } from "ajv";
import { bareTexts, channels, messageOf, messageSchemas } from "../../src/northbound/mqtt/models/messages.ts";

const ajv = new Ajv({ strict: true, allErrors: true, allowUnionTypes: true, formats: { "date-time": true } });
const validators = new Map(
  Object.entries(messageSchemas()).map(([name, schema]) => [name, ajv.compile(schema)]),
);
const models = new Map(channels.flatMap(({ messages }) => Object.entries(messages)));

/** What is wrong with a message by the published schema, and by the model, which knows no other field. */
export function messageFaults(topic: string, text: string): readonly string[] {
  if (text === "") return [];
  const name = messageOf(topic);
  const validate = validators.get(name ?? "");
  const model = models.get(name ?? "");
  if (name === null || validate === undefined || model === undefined) return [`${topic}: has no schema`];
  const value: unknown = bareTexts.includes(name) ? text : JSON.parse(text);
  const faults = validate(value)
    ? []
    : (validate.errors ?? []).map((each) => `${each.instancePath} ${each.message}`);
  const parsed = model.safeParse(value);
  const issues = parsed.success
    ? []
    : parsed.error.issues.map((each) => `${each.path.join(".")}: ${each.message}`);
  return [...faults, ...issues].map((fault) => `${topic}: ${fault} in ${text.slice(0, 500)}`);
}
