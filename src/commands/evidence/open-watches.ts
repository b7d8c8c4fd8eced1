import type { RobotId } from "../../domain/robot.ts";
import type { Watch } from "./watch.ts";

/** What the watch of a command serves at the moment. */
export type WatchUse =
  /** The call is out, or its outcome is final and nobody waits for the watch. */
  | { readonly kind: "idle" }
  /** The outcome is sought: `look` decides again. */
  | { readonly kind: "seeking"; readonly look: () => void }
  /** The outcome is final, and what is found later is an event. Monotonic milliseconds. */
  | { readonly kind: "late"; readonly untilMs: number; readonly isPlanned: boolean };

/** The watch of one command. */
export interface OpenWatch {
  readonly commandId: string;
  watch: Watch;
  use: WatchUse;
}

/** Every open watch, by command and by robot. */
export interface OpenWatches {
  /** Opens a watch, in place of an earlier one of the same command. */
  open(commandId: string, watch: Watch): void;
  find(commandId: string): OpenWatch | undefined;
  close(commandId: string): void;
  /** The watches of other commands on the same robot. */
  besides(open: OpenWatch): readonly OpenWatch[];
  /** Replaces the watches of a robot by what `see` makes of them. Returns those that have changed. */
  update(robotId: RobotId, see: (open: OpenWatch) => Watch): readonly OpenWatch[];
}

export function createOpenWatches(): OpenWatches {
  const byCommand = new Map<string, OpenWatch>();
  const byRobot = new Map<RobotId, Set<OpenWatch>>();

  function close(commandId: string): void {
    const open = byCommand.get(commandId);
    if (open === undefined) return;
    byCommand.delete(commandId);
    const ofRobot = byRobot.get(open.watch.robotId);
    ofRobot?.delete(open);
    if (ofRobot?.size === 0) byRobot.delete(open.watch.robotId);
  }

  return {
    open(commandId, watch) {
      close(commandId);
      const open: OpenWatch = { commandId, watch, use: { kind: "idle" } };
      byCommand.set(commandId, open);
      const ofRobot = byRobot.get(watch.robotId) ?? new Set();
      byRobot.set(watch.robotId, ofRobot.add(open));
    },
    find: (commandId) => byCommand.get(commandId),
    close,
    besides: (open) => [...(byRobot.get(open.watch.robotId) ?? [])].filter((other) => other !== open),
    update(robotId, see) {
      const changed: OpenWatch[] = [];
      for (const open of byRobot.get(robotId) ?? []) {
        const watch = see(open);
        if (watch === open.watch) continue;
        open.watch = watch;
        changed.push(open);
      }
      return changed;
    },
  };
}
