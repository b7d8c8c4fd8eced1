#!/usr/bin/env -S node --no-memory-reducer --max-semi-space-size=32 --no-allocation-site-pretenuring
import { oldNodeProblem } from "./cli/node-version.ts";

// The options above are those of the systemd unit and the image: docs/internals/decisions.md, V8 gets three
// options.
const problem = oldNodeProblem(process.versions.node);
if (problem === null) {
  // Loaded here, because an older Node.js cannot load it.
  const { createProgram } = await import("./cli/program.ts");
  const { outliveReaders } = await import("./cli/stop-signal.ts");
  outliveReaders();
  await (await createProgram(process.argv[2])).parseAsync();
} else {
  process.stderr.write(`fleetgate: ${problem}\n`);
  // The same code as for a wrong configuration: starting it again would not help.
  process.exitCode = 78;
}
