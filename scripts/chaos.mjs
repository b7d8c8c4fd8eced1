// Rounds of faults against two gateways that are one: `npm run chaos -- --rounds 40 --seed 1 --kind kill`.
// The rounds of a seed that .chaos has already are not run again. With --planted, and the name of a mistake
// or "all", the rounds must find it in a copy of the program.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

const ALL = [
  ...["kill", "kill-late", "pause", "pause-slow", "cut-etcd", "cut-service", "etcd-leader", "split"],
  ...["lease", "mute-etcd", "handover"],
].join();
const { values: options } = parseArgs({
  options: {
    rounds: { type: "string", default: "40" },
    seed: { type: "string", default: "1" },
    kind: { type: "string", default: ALL },
    rate: { type: "string", default: "50" },
    planted: { type: "string" },
  },
});
const report = join(import.meta.dirname, "..", ".chaos", `${options.seed}.jsonl`);
const run = spawnSync("npx", ["vitest", "run", "--project", "deep", "test/cluster/chaos/chaos.test.ts"], {
  stdio: "inherit",
  env: {
    ...process.env,
    CHAOS_ROUNDS: options.rounds,
    CHAOS_SEED: options.seed,
    CHAOS_KINDS: options.kind,
    CHAOS_RATE: options.rate,
    CHAOS_REPORT: report,
    ...(options.planted === undefined ? {} : { CHAOS_PLANTED: options.planted }),
  },
});
process.exitCode = run.status ?? 1;
if (options.planted === undefined)
  print(
    readFileSync(report, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
  );

function print(rounds) {
  const told = { starts: new Map(), stops: new Map() };
  for (const kind of new Set(rounds.map((round) => round.kind))) {
    const own = rounds.filter((round) => round.kind === kind);
    const judged = own.filter((round) => round.failed === undefined);
    const sum = (of) => judged.reduce((total, round) => total + of(round), 0);
    const times = judged.flatMap(({ takeoverMs }) => takeoverMs ?? []).sort((a, b) => a - b);
    const conveyors = judged.flatMap(({ conveyorMs }) => conveyorMs ?? []);
    const held = judged.flatMap(({ heldStartsMs }) => heldStartsMs).sort((a, b) => a - b);
    const load = judged.map((round) => Math.round(round.load)).join(" ");
    console.log(
      [
        `${kind}: ${judged.length} rounds, ${own.length - judged.length} not judged, ${sum((r) => r.commands)} commands`,
        `  first start after the fault: p50 ${times[times.length >> 1]} ms, max ${times.at(-1)} ms; none in ${judged.length - times.length}; load ${load}`,
        `  broken: ${sum((r) => r.broken.length)}, open: ${sum((r) => r.open)}, outcomes without a record: ${sum((r) => r.unrecordedStarts)}`,
        `  starts after their outcome was told: ${sum((r) => r.lateStarts)}`,
        `  a conveyor that was not watched: ${conveyors.length} times, ${longest(conveyors)} ms at most`,
        `  a value shown as good after it had changed: ${longest(judged.map(({ shownMs }) => shownMs))} ms at most`,
        `  holds: ${sum((r) => r.holds)}, starts after them: ${held.length}, the last after ${held.at(-1) ?? 0} ms`,
        `  refused by a standby, and sent: ${sum((r) => r.standbyRefusedButSent)}, late bytes: ${sum((r) => r.lateBytes)}`,
      ].join("\n"),
    );
    for (const round of judged) {
      add(told.starts, round.table);
      add(told.stops, round.stops);
    }
    for (const round of own)
      for (const text of round.failed === undefined ? round.broken : [round.failed])
        console.log(`  seed ${round.seed}: ${text}`);
  }
  for (const [what, outcomes] of Object.entries(told)) {
    console.log(`${what}: outcome, and how many were sent 0, 1 and more times`);
    for (const [name, counts] of outcomes) console.log(`  ${name.padEnd(36)} ${counts.join("  ")}`);
  }
}

function longest(times) {
  return times.length === 0 ? 0 : Math.max(...times);
}

function add(sums, table) {
  for (const [name, counts] of Object.entries(table)) {
    const sum = sums.get(name) ?? [0, 0, 0];
    sums.set(
      name,
      counts.map((count, times) => count + sum[times]),
    );
  }
}
