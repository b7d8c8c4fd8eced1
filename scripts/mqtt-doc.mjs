// Writes what the gateway's MQTT messages look like, from the models (in .build, so build first) and the
// examples of docs/mqtt-reference.md: config/schemas and config/asyncapi.json. With --check it writes
// nothing, and fails when what is committed is not what they say today.
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { examplesOn, messageSchemas } from "../.build/northbound/mqtt/models/messages.js";
import { asyncApiDocument } from "./async-api.mjs";
import { writeMade } from "./made-files.mjs";

const root = join(import.meta.dirname, "..");
const folder = join(root, "config", "schemas");
const examples = examplesOn(readFileSync(join(root, "docs", "mqtt-reference.md"), "utf8"));
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const text = (json) => `${JSON.stringify(json, null, 2)}\n`;

const files = [
  ...Object.entries(messageSchemas()).map(([name, schema]) => [join(folder, `${name}.json`), text(schema)]),
  [join(root, "config", "asyncapi.json"), text(asyncApiDocument(version, examples))],
];

mkdirSync(folder, { recursive: true });
const made = new Set(files.map(([path]) => path));
const extra = readdirSync(folder)
  .map((name) => join(folder, name))
  .filter((path) => !made.has(path));
writeMade(files, extra);
