import type { Dispatcher } from "../commands/dispatcher.ts";
import type { Intake } from "../commands/intake/intake.ts";
import type { Config } from "../config/load.ts";
import { leavingMs } from "../fleet/options.ts";
import { aborted, type Component } from "../platform/component.ts";
import type { LineFile } from "../platform/line-file.ts";
import { mergedHealth } from "../platform/merged-health.ts";
import { noLaterThan } from "../platform/no-later-than.ts";
import type { Readiness } from "../platform/readiness.ts";
import type { Step } from "../platform/supervisor.ts";
import type { PlantView } from "../state/plant-view.ts";
import type { NorthboundParts } from "./northbound-parts.ts";
import type { Stores } from "./stores.ts";

export interface CommandIntakeParts {
  readonly dispatcher: Pick<Dispatcher, "drain" | "health">;
  readonly intake: Pick<Intake, "figures">;
  readonly audit: Pick<LineFile, "close">;
  readonly stores: Pick<Stores, "commandsHealth">;
  readonly view: Pick<PlantView, "settled">;
  readonly readiness: Pick<Readiness, "closing">;
}

const START_TIMEOUT_MS = 60_000;
/**
 * A component that hangs while it closes is abandoned, so that the others can close too. Longer than a busy
 * machine takes to write and sync a last file: measured 1.5 s with 500 robots at a load of 8.
 */
const STOP_TIMEOUT_MS = 4_000;
const COMMANDS = "commands";
const FLEET = "fleet";

/**
 * The session to the fleet, which is opened first to be closed last, but begins only when `begin` resolves
 * (docs/decisions.md, The fleet session begins when the listeners stand). With webhooks it has a port to bind
 * itself, and cannot wait.
 */
export function opensFirst(fleet: Component, { fleet: { events } }: Config, begin: Promise<void>): Component {
  if (events.kind === "webhook") return fleet;
  return {
    ...fleet,
    async run(signal, ready) {
      ready();
      await Promise.race([begin, aborted(signal)]);
      if (!signal.aborted) await fleet.run(signal, () => {});
    },
  };
}

/** Opens last and closes first: while anything else is open or closing, no new command is accepted. */
export function commandIntake(parts: CommandIntakeParts, drainMs: number): Component {
  const { dispatcher, intake, audit, stores, view, readiness } = parts;
  return {
    name: COMMANDS,
    health: () =>
      stores.commandsHealth(mergedHealth({ state: "up", figures: intake.figures() }, dispatcher.health())),
    async run(signal, ready) {
      ready();
      await aborted(signal);
      readiness.closing();
      await dispatcher.drain(drainMs);
      await view.settled();
      await audit.close();
    },
  };
}

/** Once nothing is open that could ask for an outcome. A drain that hangs is abandoned. */
export async function closeJournal({
  dispatcher,
  clock,
}: Pick<NorthboundParts, "dispatcher" | "clock">): Promise<void> {
  await noLaterThan(clock, STOP_TIMEOUT_MS, dispatcher.close(0), null);
}

/** The components in the order in which they open, and how long each may take. */
export function stepsOf(components: readonly Component[], config: Config): Step[] {
  return components.map((component) => ({
    component,
    startTimeoutMs: START_TIMEOUT_MS,
    stopTimeoutMs: STOP_TIMEOUT_MS + lastWordsMs(component.name, config),
  }));
}

/** How much longer a component may take to finish what it has begun. */
function lastWordsMs(name: string, { drainMs, fleet }: Config): number {
  if (name === COMMANDS) return drainMs;
  return name === FLEET ? leavingMs(fleet.events) : 0;
}
