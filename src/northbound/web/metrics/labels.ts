import type { Coded } from "../../../domain/coded.ts";
import type { MissionStateName } from "../../../domain/mission.ts";
import type { StreamAspect } from "../../../domain/update.ts";

/** Labels of one time series. */
export type Labels = Readonly<Record<string, string>>;

/** Replaces every value that is not in a list of ours: a label from outside would have no bound. */
export const OTHER = "other";

export const streamKinds: readonly StreamAspect[] = ["mission", "battery", "conveyors"];

/** One object for each kind: they are used for every message. */
export const streamLabels: Readonly<Record<StreamAspect, Labels>> = {
  mission: { stream: "mission" },
  battery: { stream: "battery" },
  conveyors: { stream: "conveyors" },
};

/** `STATE_RUNNING` → `running`. */
export function missionStateLabel(state: Coded<MissionStateName>): string {
  return typeof state === "string" ? state.slice("STATE_".length).toLowerCase() : OTHER;
}
