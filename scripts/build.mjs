// Makes the program in dist/: compile.mjs compiles src to .build/, and what the program loads is bundled from
// there. A start that reads its 1,900 files one by one takes twice as long (docs/internals/decisions.md).
import { spawnSync } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { buildConsole } from "./build-console.mjs";
import { compile } from "./compile.mjs";
import { absent, unbundled } from "./unbundled.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const [compiled, built] = [join(root, ".build"), join(root, "dist")];

if (!compile()) process.exit(1);

const bundle = await rolldown({
  input: {
    main: join(compiled, "main.js"),
    "store-program": join(compiled, "platform", "stores", "store-program.js"),
  },
  platform: "node",
  // The splitting below needs it.
  preserveEntrySignatures: "allow-extension",
  external: (id) => [...unbundled, ...absent].some((name) => id === name || id.startsWith(`${name}/`)),
  // For packages that are CommonJS.
  transform: { define: { __dirname: "import.meta.dirname", __filename: "import.meta.filename" } },
  logLevel: "warn",
});
await bundle.write({
  dir: built,
  cleanDir: true,
  chunkFileNames: "[name]-[hash].js",
  // A part that the log of a plant can name. What others use too stays out of it: they would load all of it.
  codeSplitting: {
    groups: [
      { name: "node-opcua", test: /node_modules[\\/]node-opcua/, includeDependenciesRecursively: false },
      // It calls node-opcua while it loads, so it must not lie in a part that node-opcua needs.
      { name: "library-log", test: /[\\/]library-log\.js$/, includeDependenciesRecursively: false },
    ],
  },
  // V8 keeps the text of what it has loaded, with two bytes a character where one is beyond Latin-1.
  charset: "ascii",
  comments: { legal: true, annotation: false, jsdoc: false },
});
await bundle.close();
await buildConsole(root);

// What GET /api/v1/openapi.json answers, without its white space.
const openApi = JSON.parse(readFileSync(join(root, "config", "openapi.json"), "utf8"));
writeFileSync(join(built, "openapi.json"), JSON.stringify(openApi));
// The other files that the program reads (src/platform/plain-file.ts).
const shipped = [
  "docs/examples/FG_Command.st",
  "docs/examples/FG_LoadStation.st",
  "config/scenarios/plant.yaml",
];
for (const path of shipped) cpSync(join(root, path), join(built, basename(path)));

// For OPC UA's BuildInfo, and to know a clock that is wrong. It is the date of the commit: a build can be
// repeated bit by bit (reproducible-builds.org). Without a repository it is that of the build.
const epoch = process.env.SOURCE_DATE_EPOCH ?? commitTime() ?? Date.now() / 1_000;
const builtAt = new Date(Number(epoch) * 1_000).toISOString();
writeFileSync(join(built, "build.json"), `${JSON.stringify({ builtAt })}\n`);

function commitTime() {
  const { status, stdout } = spawnSync("git", ["-C", root, "log", "-1", "--format=%ct"], {
    encoding: "utf8",
  });
  return status === 0 ? stdout.trim() : undefined;
}
