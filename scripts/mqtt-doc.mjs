// Writes what the gateway's MQTT messages look like, from the models (in .build, so build first) and the
// examples of docs/mqtt-reference.md: config/schemas and config/asyncapi.json. With --check it writes
// nothing, and fails when what is committed is not what they say today.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { examplesOn, messageSchemas } from "../.build/northbound/mqtt/models/messages.js";
import { asyncApiDocument } from "./async-api.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const folder = join(root, "config", "schemas");
const examples = examplesOn(readFileSync(join(root, "docs", "mqtt-reference.md"), "utf8"));
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const text = (json) => `${JSON.stringify(json, null, 2)}\n`;

const files = new Map([
  ...Object.entries(messageSchemas()).map(([name, schema]) => [join(folder, `${name}.json`), text(schema)]),
  [join(root, "config", "asyncapi.json"), text(asyncApiDocument(version, examples))],
]);

mkdirSync(folder, { recursive: true });
const extra = readdirSync(folder)
  .map((name) => join(folder, name))
  .filter((path) => !files.has(path));
if (!process.argv.includes("--check")) {
  for (const path of extra) rmSync(path);
  for (const [path, wanted] of files) writeFileSync(path, wanted);
} else {
  const read = (path) => {
    try {
      return readFileSync(path, "utf8");
    } catch {
      return null;
    }
  };
  const wrong = [
    ...extra,
    ...[...files].filter(([path, wanted]) => read(path) !== wanted).map(([path]) => path),
  ];
  if (wrong.length > 0) {
    console.error(
      `${wrong.join(", ")}: not what src/models, src/northbound/mqtt/models and docs/mqtt-reference.md say. Run: node scripts/mqtt-doc.mjs`,
    );
    process.exit(1);
  }
}
