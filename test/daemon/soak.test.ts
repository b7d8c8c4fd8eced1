import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
/** Not that of `npm run soak`: a week that runs keeps its programs. */
const FOLDER = ".bench";

const nothing = "after a twentieth of a day with every kind of incident, nothing is left behind";
test(nothing, { timeout: 300_000 }, async () => {
  const build = join(root, "scripts", "build-bench.mjs");
  expect(spawnSync(process.execPath, [build, FOLDER], { cwd: root, stdio: "inherit" }).status).toBe(0);
  const program = join(root, FOLDER, "bench", "soak", "main.js");
  const soak = spawn(process.execPath, [program, "--days", "0.05", "--verbose"]);
  let said = "";
  for (const stream of [soak.stdout, soak.stderr]) {
    stream.on("data", (chunk) => {
      said += chunk;
    });
  }
  const [code] = await once(soak, "close");
  expect(code, said).toBe(0);
});
