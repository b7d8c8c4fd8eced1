import type { Clock } from "../platform/clock.ts";
import type { Closer } from "../platform/component.ts";
import type { Log } from "../platform/log.ts";
import { type Control, createControl } from "./control.ts";
import type { FaultRegistry } from "./faults/registry.ts";
import type { SimulatorOptions } from "./options.ts";
import { createPlayer, createReplayOperations } from "./replay/player.ts";
import { readScript } from "./replay/script.ts";
import type { Scenario } from "./scenario/scenario.ts";
import type { FleetOperations } from "./service/contract.ts";
import { createOperations } from "./service/operations.ts";
import { createOwnership } from "./service/ownership.ts";
import { openWebhooks } from "./webhooks/webhooks.ts";
import { createWorld, createWorldDriver } from "./world/world.ts";

/** The source behind the transports: a world, or a recording. */
export interface Service {
  readonly operations: FleetOperations;
  /** Null: a replay cannot be controlled. */
  readonly control: Control | null;
  /** The locations of the first API key. */
  readonly locations: readonly string[];
  /** Runs the world, once the listeners are there. */
  run(signal: AbortSignal): void;
  robots(): number;
}

interface ServiceParts {
  readonly options: SimulatorOptions;
  readonly scenario: Scenario;
  readonly faults: FaultRegistry;
  readonly clock: Clock;
  readonly log: Log;
  readonly closer: Closer;
}

const RECORD_CAPACITY = 100_000;

/** A world of robots by the rules of the scenario. */
export async function openWorld(parts: ServiceParts): Promise<Service> {
  const { options, scenario, faults, clock, log, closer } = parts;
  const world = createWorld(scenario.world, clock.nowMs(), RECORD_CAPACITY);
  const driver = createWorldDriver(world, clock, scenario.timeFactor);
  const webhooks = await openWebhooks(options, createOwnership(world), { clock, log });
  closer.add(webhooks.close);
  const operations = createOperations({
    world,
    driver,
    clock,
    faults: faults.commands,
    webhooks: webhooks.calls,
    log,
    options: { confirmMs: scenario.confirmMs, confirmWaitMs: scenario.confirmWaitMs },
  });
  operations.onEvent(webhooks.offer);
  const scope = scenario.apiKeys[0]?.scope;
  return {
    operations,
    control: createControl(world, driver, faults),
    locations: scenario.world.locations
      .filter(({ distributor }) => distributor === scope)
      .map(({ id }) => id),
    run: driver.run,
    robots: () => world.robots.size,
  };
}

/** Replays the robots of a recording. Rejects with NoRecording. */
export async function openReplay(
  { path, speed = 1, onEnd }: NonNullable<SimulatorOptions["replay"]>,
  { clock, closer }: Pick<ServiceParts, "clock" | "closer">,
): Promise<Service> {
  const script = await readScript(path);
  const player = createPlayer(script, { speed, onEnd }, clock);
  closer.add(async () => player.stop());
  return {
    operations: createReplayOperations(script, player, speed, clock),
    control: null,
    locations: [...new Set(script.locations.values())],
    run() {},
    robots: player.robots,
  };
}
