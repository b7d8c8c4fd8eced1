import type { OutcomeName } from "../../src/domain/outcome.ts";
import {
  type Allowed,
  commandTable,
  type DecidabilityRow,
  type FaultName,
  faults,
  freeTable,
  overHttps,
} from "./decidability-table.ts";

/** How commands travel to the service, and what it shows of its robots. */
export interface Mode {
  readonly transport: "grpc" | "rest";
  readonly events: "streams" | "webhook";
  /** Whether the service's gRPC port answers: all streams come from there. */
  readonly hasGrpc: boolean;
}

/**
 * The modes of the configuration (`fleet.transport`, `fleet.events`) besides the usual one:
 *
 * - `webhook`: missions and batteries are delivered, and their streams rest;
 * - `rest`: commands travel over HTTPS, streams are there;
 * - `rest alone`: the service has no gRPC, so nothing is known of robots but what HTTPS is asked for;
 * - `rest and webhook`: the same, and missions are delivered.
 */
export const modes = {
  webhook: { transport: "grpc", events: "webhook", hasGrpc: true },
  rest: { transport: "rest", events: "streams", hasGrpc: true },
  "rest alone": { transport: "rest", events: "streams", hasGrpc: false },
  "rest and webhook": { transport: "rest", events: "webhook", hasGrpc: false },
} as const satisfies Record<string, Mode>;
export type ModeName = keyof typeof modes;
export const modeNames = Object.keys(modes) as readonly ModeName[];

export const streamsMode: Mode = { transport: "grpc", events: "streams", hasGrpc: true };

/** The service answers them without waiting for a robot. */
const answeredAtOnce: ReadonlySet<string> = new Set(["AddTaskChain", "CreateWebhook", "DeleteWebhook"]);
/** What is not held back while nothing is known of a robot: stops, and what concerns none. */
const passes: ReadonlySet<string> = new Set([
  "UpdateMission CANCEL",
  "UpdateMission PAUSE",
  "ControlConveyor STOP",
  "CancelTaskChain",
  "PauseRobot",
  "CreateWebhook",
]);

function travelling({ transport }: Mode, row: DecidabilityRow): DecidabilityRow {
  if (transport === "grpc") return row;
  const allowed = row.isRepeatable ? row.allowed : overHttps(row.allowed);
  // Whether its answer or the cut comes first.
  const either = ["succeeded", "probably_succeeded"] as const;
  return {
    ...row,
    allowed: answeredAtOnce.has(row.operation) ? { ...allowed, "cut-after": either } : allowed,
  };
}

/**
 * Without streams nothing says that a robot may be moved, nor, but for what is delivered, what it has done.
 */
function seeing({ hasGrpc, events }: Mode, name: string, row: DecidabilityRow): DecidabilityRow {
  if (hasGrpc) return row;
  if (!passes.has(name)) {
    const because = "the robot is not good while no stream says how it is";
    return { ...row, allowed: sameFor(row.allowed, faults, "refused"), because };
  }
  const isDelivered = events === "webhook";
  if (row.operation === "UpdateMission" && !isDelivered) {
    // A mission that has ended answers a second CANCEL so, and a paused one a second PAUSE as others do.
    const unseen =
      name === "UpdateMission CANCEL"
        ? onlySeen
        : [...onlySeen, "delay-taken-expired" as const, ...toldByRepeat];
    const because = `${row.because}; without a stream it is not seen`;
    return { ...row, allowed: sameFor(row.allowed, unseen, "unknown"), because };
  }
  if (row.operation === "ControlConveyor") {
    const because = "conveyors are told of by their streams alone";
    return { ...row, allowed: sameFor(row.allowed, onlySeen, "unknown"), because };
  }
  return row;
}

/** After these nothing but what is seen can tell; after those, a repeat that is refused as well. */
const onlySeen = ["taken-then-failing"] as const;
const toldByRepeat = ["delay-taken", "internal-after", "cut-after"] as const;

function sameFor(allowed: Allowed, which: readonly FaultName[], outcome: OutcomeName): Allowed {
  return { ...allowed, ...Object.fromEntries(which.map((fault) => [fault, [outcome]])) };
}

/** The command table as it stands in a mode. */
export function commandTableIn(name: ModeName): readonly DecidabilityRow[] {
  const mode = modes[name];
  return commandTable.map((row) => {
    const variant = row.variant === undefined ? row.operation : `${row.operation} ${row.variant}`;
    return seeing(mode, variant, travelling(mode, row));
  });
}

/**
 * The table of what may always be asked again, over HTTPS: streams and deliveries make no difference to it.
 */
export const freeTableOverRest: readonly DecidabilityRow[] = freeTable.map((row) =>
  travelling(modes.rest, row),
);
