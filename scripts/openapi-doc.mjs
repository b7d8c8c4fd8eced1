// Writes config/openapi.json from the models of the HTTP API, its endpoints and the catalogue of operations
// (in .build, so build first). With --check it writes nothing, and fails when what is committed is not what
// they say today.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { openApiDocument } from "./openapi/document.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const path = join(root, "config", "openapi.json");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const text = `${JSON.stringify(openApiDocument(version), null, 2)}\n`;

if (!process.argv.includes("--check")) {
  writeFileSync(path, text);
} else if (readFileSync(path, "utf8") !== text) {
  console.error("config/openapi.json is not what the API says. Run: node scripts/openapi-doc.mjs");
  process.exit(1);
}
