#!/usr/bin/env -S node --no-memory-reducer --max-semi-space-size=32 --no-allocation-site-pretenuring
import { oldNodeProblem } from "./cli/node-version.ts";

// The options are those of the systemd unit and the image. Without the first, V8 compacts the heap of a
// program that falls idle, several times over, as a browser wants of its tabs: with a thousand robots a
// second of a core each time. By the second, what lives as long as a command dies young: at 2,000 commands a
// second copying it took a quarter of the time. With more than 32 MB each of its pauses is longer than a
// command may be late. By the third, V8 does not conclude from the streams of a start, which all stay, that
// the calls of commands stay too: it would make them old at once.
const problem = oldNodeProblem(process.versions.node);
if (problem === null) {
  // Loaded here, because an older Node.js cannot load it.
  const { createProgram } = await import("./cli/program.ts");
  const { outliveReaders } = await import("./cli/unread-output.ts");
  outliveReaders();
  await createProgram().parseAsync();
} else {
  process.stderr.write(`fleetgate: ${problem}\n`);
  // As for a wrong configuration: to start it again would mend nothing.
  process.exitCode = 78;
}
