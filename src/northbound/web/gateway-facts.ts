import type { Health } from "../../platform/component.ts";
import type { FloorOptions } from "./options.ts";
import type { StatusFacts } from "./status-report.ts";

/** The gateway, and this run of it. */
export interface GatewayIdentity {
  readonly gatewayId: string;
  readonly version: string;
  readonly sessionId: string;
  readonly startedAtMs: number;
}

/** What the configuration decides, and whether this is the demo. */
export interface ApiSettings {
  /** Counts the configurations that were loaded. */
  readonly configuration: () => number;
  /** Whether it runs as a demo, without log-in. */
  readonly isOpen: () => boolean;
  /** Whether a simulated fleet service runs beside the gateway. */
  readonly hasSimulator: boolean;
  /** Between two online lists; null: they are not polled. */
  readonly pollMs: number | null;
  readonly floorOptions: () => FloorOptions;
  /** The path of the description of the HTTP API. */
  readonly openApiFile: string;
}

/** The state of the gateway's components, and of what they need. */
export interface GatewayCondition {
  readonly health: () => Readonly<Record<string, Health>>;
  /** Wall time since when a component has been in its state; null: not known. */
  readonly stateSinceMs: (part: string) => number | null;
  readonly certificates: () => StatusFacts["certificates"];
  readonly disk: () => StatusFacts["disk"];
  readonly isFleetLinkUp: () => boolean;
  /** False: the component that keeps values and their quality up to date is stalled. */
  readonly areValuesKept: () => boolean;
}
