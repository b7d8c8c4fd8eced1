// Compiles src to dist and lays what the compiler does not carry beside it:
// the generated messages (plain JavaScript with declarations).
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
const compiled = spawnSync(process.execPath, [tsc, "-p", "tsconfig.build.json"], {
  cwd: root,
  stdio: ["ignore", "inherit", "inherit"],
});
if (compiled.status !== 0) process.exit(compiled.status ?? 1);
cpSync(join(root, "src", "wire"), join(root, "dist", "wire"), { recursive: true });

// For OPC UA's BuildInfo. A build that is to be repeated bit by bit gives its time (reproducible-builds.org).
const epoch = process.env.SOURCE_DATE_EPOCH;
const builtAt = (epoch === undefined ? new Date() : new Date(Number(epoch) * 1_000)).toISOString();
writeFileSync(join(root, "dist", "build.json"), `${JSON.stringify({ builtAt })}\n`);

// What an earlier build left of a file that is gone would hide that something still asks for it.
for (const path of readdirSync(join(root, "dist"), { recursive: true })) {
  if (!path.endsWith(".js") || path.startsWith("wire")) continue;
  const source = join(root, "src", path.replace(/\.js$/, ".ts"));
  if (!existsSync(source)) rmSync(join(root, "dist", path));
}
