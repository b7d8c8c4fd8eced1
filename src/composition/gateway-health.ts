import { auditHealth } from "../commands/audit/audit-health.ts";
import type { FanOut } from "../delivery/fan-out.ts";
import type { Component, Health } from "../platform/component.ts";
import { createHealthHistory } from "../platform/health-history.ts";
import type { LineFile } from "../platform/line-file.ts";
import { firstHang } from "../platform/liveness.ts";
import { createProcessHealth } from "../platform/process-health.ts";
import type { FleetState } from "../state/fleet-state.ts";
import type { Run } from "./run.ts";

const processHealth = createProcessHealth();

/** The health of all components by name, and of what is no component. */
export function createGatewayHealth(
  components: readonly Component[],
  { surroundings: { clock, ownHealth }, stores, reloads, work }: Run,
  {
    state,
    fanOut,
    auditLog,
  }: {
    readonly state: Pick<FleetState, "figures">;
    readonly fanOut: Pick<FanOut, "health" | "hang">;
    readonly auditLog: LineFile;
  },
) {
  const queues = { name: "queues", hang: fanOut.hang };
  const history = createHealthHistory(clock, () => ({
    ...Object.fromEntries(components.map((component) => [component.name, component.health()])),
    state: { state: "up", figures: state.figures() },
    queues: fanOut.health(),
    audit: auditHealth(auditLog),
    stores: stores.health(),
    disk: stores.diskHealth(),
    configuration: reloads.health(),
    process: processHealth(),
    ...ownHealth?.(),
  }));
  return {
    now: (): Readonly<Record<string, Health>> => work.time("health", history.health),
    /** Wall time since when a component has been in its state; null: not known. */
    sinceMs: history.sinceMs,
    /** Notes when the state of a component changes. */
    note: history.note,
    /** The component that is stalled now; null: all answer. */
    hang: () => firstHang([...components, queues]),
    /** False: a component that keeps values and their quality up to date, or hands them over, is stalled. */
    areValuesKept: () => firstHang([...components.filter(({ name }) => name === "quality"), queues]) === null,
  };
}
