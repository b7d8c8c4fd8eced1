// What metrics and the recorder cost a message: the gateway against itself without them, in turn.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Build, ownBuild, root } from "../build.ts";
import { atMost, type Findings } from "../report.ts";
import type { SectionRun } from "../section-run.ts";
import { type MessageOptions, measureMessages } from "./section.ts";

/** 4 % of the CPU of a message are metrics and recorder: 1 ÷ 0.96. */
const MOST_RATIO = 1.0417;

/** The program before it is bundled: there prom-client is a module of its own, which can be replaced. */
const program: Build = { ...ownBuild, script: join(root, ".build", "main.js") };

export async function measureWatched(run: SectionRun, options: Omit<MessageOptions, "against">) {
  const without: Build = {
    ...program,
    preload: [join(dirname(fileURLToPath(import.meta.url)), "without-metrics.js")],
    sections: { recorder: { enabled: false } },
  };
  const {
    builds = [],
    figures,
    faults,
  } = await measureMessages(run, {
    ...options,
    own: program,
    against: without,
  });
  const [ratio] = builds;
  if (ratio === undefined) throw new Error("two gateways are always compared");
  const { median, lower, upper, pairs } = ratio;
  return {
    figures: { ...figures, ratio },
    table: `CPU a message, with ÷ without: ${median.toFixed(3)}; half of ${pairs} pairs from ${lower.toFixed(3)} to ${upper.toFixed(3)}`,
    reach: [atMost("CPU of a message with metrics and recorder ÷ without", median, MOST_RATIO)],
    faults,
  } satisfies Findings;
}
