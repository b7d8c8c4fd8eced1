// Writes docs/commands.md from the catalogue of operations that the gateway itself
// uses (in dist, so build first). With --check it writes nothing, and fails when what
// is committed is not what the catalogue says today.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { commandsPage } from "../.build/cli/commands-page.js";
import { createCatalogue } from "../.build/fleet/operations.js";

const path = join(dirname(fileURLToPath(import.meta.url)), "..", "docs", "commands.md");
const text = commandsPage(createCatalogue());

if (!process.argv.includes("--check")) {
  writeFileSync(path, text);
} else if (readFileSync(path, "utf8") !== text) {
  console.error("docs/commands.md is not what the catalogue says. Run: node scripts/commands-doc.mjs");
  process.exit(1);
}
