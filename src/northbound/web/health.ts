import type { Health } from "../../platform/component.ts";
import { publishedHealth } from "../../platform/published-health.ts";

/** What `/healthz` answers. */
export interface HealthReport {
  /** Whether the gateway does its job, be it with difficulty. */
  readonly ok: boolean;
  readonly body: {
    readonly state: Health["state"];
    readonly components: Readonly<Record<string, Health>>;
  };
}

const worstFirst: readonly Health["state"][] = ["down", "starting", "degraded", "up"];

/** The gateway is as well as its least well part; `up` and `degraded` are ok. */
export function healthReport(components: Readonly<Record<string, Health>>): HealthReport {
  const states = new Set(Object.values(components).map((part) => part.state));
  const state = worstFirst.find((candidate) => states.has(candidate)) ?? "starting";
  return {
    ok: state === "up" || state === "degraded",
    body: { state, components: publishedHealth(components) },
  };
}
