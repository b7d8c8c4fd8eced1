// Writes config/fleetgate.schema.json, for editors, from the schema that the gateway
// itself checks with (in dist, so build first). With --check it writes nothing, and
// fails when what is committed is not what the schema says today.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { configJsonSchema } from "../.build/config/schema.js";

const path = join(dirname(fileURLToPath(import.meta.url)), "..", "config", "fleetgate.schema.json");
const text = `${JSON.stringify(configJsonSchema(), null, 2)}\n`;

if (!process.argv.includes("--check")) {
  writeFileSync(path, text);
} else if (readFileSync(path, "utf8") !== text) {
  console.error(
    "config/fleetgate.schema.json is not what src/config says. Run: node scripts/config-schema.mjs",
  );
  process.exit(1);
}
