// Writes config/openapi.json from the models of the HTTP API, its endpoints and the catalogue of operations
// (in .build, so build first). With --check it writes nothing, and fails when what is committed is not what
// they say today.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { writeMade } from "./made-files.mjs";
import { openApiDocument } from "./openapi/document.mjs";

const root = join(import.meta.dirname, "..");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const text = `${JSON.stringify(openApiDocument(version), null, 2)}\n`;
writeMade([[join(root, "config", "openapi.json"), text]]);
