import { readFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg } from "node:os";
import type { SectionRun } from "./section-run.ts";

/** What the figures were taken on, and what ran beside. */
export interface MachineReport {
  readonly cores: number;
  readonly processor: string;
  readonly node: string;
  /** One-minute load average when the run began and when it ended; the run's own load is in the second. */
  readonly loadBefore: number;
  readonly loadAfter: number;
  /** Processor time that programs which are not ours used during the run, in cores. */
  readonly othersCores: number;
}

const TICKS_PER_SECOND = 100;
const FIELDS_BEFORE_UTIME = 11;

/** Watches the machine from now on. */
export function watchMachine(run: Pick<SectionRun, "cpuMicros">): () => MachineReport {
  const startedMs = performance.now();
  const busyBefore = busySeconds();
  const ownBefore = ownSeconds(run);
  const [loadBefore = Number.NaN] = loadavg();
  return () => {
    const seconds = (performance.now() - startedMs) / 1000;
    const others = busySeconds() - busyBefore - (ownSeconds(run) - ownBefore);
    return {
      cores: availableParallelism(),
      processor: cpus()[0]?.model ?? "unknown",
      node: process.version,
      loadBefore,
      loadAfter: loadavg()[0] ?? Number.NaN,
      othersCores: Math.max(0, others / seconds),
    };
  };
}

export function machineLine({ cores, processor, node, loadBefore, othersCores }: MachineReport): string {
  return `${cores} cores (${processor}), Node ${node}; load ${loadBefore.toFixed(2)} before; other programs used ${othersCores.toFixed(2)} cores meanwhile`;
}

/** Processor time of the whole machine but for idling and waiting. */
function busySeconds(): number {
  const [line = ""] = readFileSync("/proc/stat", "latin1").split("\n");
  const [user = 0, nice = 0, system = 0, _idle, _wait, irq = 0, softirq = 0] = line
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return (user + nice + system + irq + softirq) / TICKS_PER_SECOND;
}

/** Our own, with that of children which are gone. */
function ownSeconds(run: Pick<SectionRun, "cpuMicros">): number {
  const stat = readFileSync("/proc/self/stat", "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = fields
    .slice(FIELDS_BEFORE_UTIME, FIELDS_BEFORE_UTIME + 4)
    .map(Number);
  const ended = (user + system + childrenUser + childrenSystem) / TICKS_PER_SECOND;
  return ended + run.cpuMicros() / 1e6;
}
