import type { Clock } from "../../platform/clock.ts";
import type { Attribution } from "../attribution/attribution.ts";
import type { OpenWatch, OpenWatches } from "./open-watches.ts";
import { verdict } from "./watch.ts";

export interface LateFindingParts {
  readonly clock: Clock;
  readonly watches: OpenWatches;
  readonly attribution: Pick<Attribution, "isOthers" | "isExpected">;
  /** Something was seen of a command whose outcome was already final. */
  readonly onLate: (commandId: string, text: string) => void;
}

/** Keeps watching for a while after an outcome is final. */
export interface LateFindings {
  begin(open: OpenWatch): void;
  /** The watch has changed. */
  look(open: OpenWatch): void;
}

const LATE_MS = 600_000;
const LOOK_AGAIN_MS = 1_000;
const MAX_LATE = 256;

export function createLateFindings(parts: LateFindingParts): LateFindings {
  const { clock, watches, attribution } = parts;
  const late: string[] = [];

  function look(open: OpenWatch): void {
    const { commandId, use, watch } = open;
    if (use.kind !== "late" || use.isPlanned || watches.find(commandId) !== open) return;
    const findings = watch.findings.filter(
      ({ missionId }) => missionId === null || !attribution.isOthers(missionId, commandId),
    );
    open.watch = { ...watch, findings };
    const said = verdict(open.watch, clock.monotonicMs(), 0);
    const isOver = clock.monotonicMs() > use.untilMs;
    if (said.kind === "found" && !isOver) {
      if (mayBelongToAnother(open)) {
        plan(open, use.untilMs);
        return;
      }
      parts.onLate(commandId, said.text);
    }
    if (said.kind !== "nothing" || isOver) watches.close(commandId);
  }

  function plan(open: OpenWatch, untilMs: number): void {
    open.use = { kind: "late", untilMs, isPlanned: true };
    clock.after(LOOK_AGAIN_MS, () => {
      open.use = { kind: "late", untilMs, isPlanned: false };
      look(open);
    });
  }

  /**
   * Streams are faster than answers: a new mission may be that of the next command, whose answer has not come
   * yet. Only missions can be mistaken so: the state of a mission or a conveyor belongs to no command.
   */
  function mayBelongToAnother(open: OpenWatch): boolean {
    if (open.watch.rule.kind !== "new_mission") return false;
    const keys = new Set(open.watch.findings.map(({ key }) => key));
    const isShared = watches
      .besides(open)
      .some(({ watch }) => watch.findings.some(({ key }) => keys.has(key)));
    return isShared || attribution.isExpected(open.watch.robotId);
  }

  return {
    begin(open) {
      const untilMs = clock.monotonicMs() + LATE_MS;
      open.use = { kind: "late", untilMs, isPlanned: false };
      late.push(open.commandId);
      const oldest = late.length > MAX_LATE ? late.shift() : undefined;
      if (oldest !== undefined) watches.close(oldest);
      // A finding that came just before the end has not stood alone for long enough yet.
      if (open.watch.findings.length > 0) plan(open, untilMs);
    },
    look,
  };
}
