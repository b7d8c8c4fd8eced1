import type {
  DescMessage,
  DescMethod,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { FleetService } from "../../wire/fleet/v1/service_pb.js";
import type { CommandFaults } from "../faults/registry.ts";
import { Refusal } from "../refusal.ts";
import type { Robot } from "../world/robot.ts";
import type { World, WorldDriver } from "../world/world.ts";
import type { Caller } from "./contract.ts";
import type { Ownership } from "./ownership.ts";

/** One call under way. */
export interface Call {
  readonly operation: string;
  readonly caller: Caller;
  /** The name of the call in the record, as the cause of an effect. */
  readonly by: string;
}

/** What the operations share. */
export interface CallParts {
  readonly world: World;
  readonly driver: WorldDriver;
  readonly ownership: Ownership;
  readonly confirmation: Confirmation;
}

/** The owner of what is started through this interface (docs/internals/service.md, TRN-44). */
export const API_OWNER = "api";

/** An operation and its implementation, without its types, so that all fit in one table. */
export interface CallHandler {
  readonly method: DescMethod;
  handle(call: Call, request: unknown): Promise<unknown>;
}

/** Pairs an operation with its implementation. `handle` throws or rejects with a Refusal. */
export function handler<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  handle: (call: Call, request: MessageShape<I>) => Promise<MessageInitShape<O>>,
): CallHandler {
  // The dispatcher looks handlers up by their own method, so the request has its input type.
  return { method, handle: async (call, request) => handle(call, request as MessageShape<I>) };
}

/** How long a robot takes to confirm, and how long the service waits for it. */
export interface ConfirmationOptions {
  readonly confirmMs: number;
  readonly confirmWaitMs: number;
}

/** Takes a checked command to its robot and back, with all faults on the way. */
interface Confirmation {
  /**
   * Makes the robot take the command and confirm it. `robot` is undefined if the answer needs no robot: the
   * service then answers by itself, at once. Rejects with the Refusal of `effect`, and with INTERNAL if a
   * fault says so. If no confirmation comes, it rejects with DEADLINE_EXCEEDED, or with INTERNAL for an
   * operation without that code.
   */
  perform<T>(operation: string, robot: Robot | undefined, effect: () => T | Promise<T>): Promise<T>;
  /** An answer that the service itself gives about a robot. */
  answer<T>(operation: string, robotId: string, effect: () => T): T;
}

/** Confirmations in real time, with faults from `faults`. */
export function createConfirmation(
  clock: Clock,
  driver: WorldDriver,
  faults: Pick<CommandFaults, "take">,
  log: Log,
  options: ConfirmationOptions,
): Confirmation {
  const waitMs = (durationMs: number) =>
    durationMs <= 0
      ? Promise.resolve()
      : new Promise<void>((resolve) => {
          clock.after(durationMs, resolve);
        });

  const runOut = async (operation: string, robotId: string): Promise<never> => {
    await waitMs(options.confirmWaitMs);
    throw unconfirmed(operation, robotId);
  };

  /** The robot takes the command when nobody waits for it any more: a refusal then has no effect. */
  const takeLate = (operation: string, robotId: string, effect: () => unknown) => {
    clock.after(options.confirmWaitMs + LATE_BY_MS, () => {
      driver.sync();
      Promise.resolve()
        .then(effect)
        .catch((error: unknown) =>
          log.warn({ operation, robotId, err: error }, "a late command was refused"),
        );
    });
  };

  return {
    async perform(operation, robot, effect) {
      driver.sync();
      const robotId = robot?.id ?? "";
      if (robot?.online === false) return runOut(operation, robotId);
      switch (faults.take(operation, robotId)) {
        case "internal-before":
          throw internal();
        case "internal-after":
          await effect();
          throw internal();
        case "delay-taken":
          await effect();
          return runOut(operation, robotId);
        case "delay-not-taken":
          return runOut(operation, robotId);
        case "delay-taken-late":
          takeLate(operation, robotId, effect);
          return runOut(operation, robotId);
        case undefined: {
          const result = await effect();
          if (robot !== undefined) await waitMs(options.confirmMs);
          return result;
        }
      }
    },
    answer(operation, robotId, effect) {
      driver.sync();
      const fault = faults.take(operation, robotId);
      if (fault === undefined) return effect();
      if (fault.startsWith("internal")) throw internal();
      throw unconfirmed(operation, robotId);
    },
  };
}

/** How long after the answer DEADLINE_EXCEEDED a late command takes effect. */
const LATE_BY_MS = 1_000;

/**
 * Operations without a documented DEADLINE_EXCEEDED: they end as INTERNAL (docs/internals/service.md,
 * ERR-65).
 */
const withoutDeadline: ReadonlySet<string> = new Set(
  [
    FleetService.method.skipGoal,
    FleetService.method.getConveyorIndex,
    FleetService.method.controlConveyor,
    FleetService.method.subscribeMissionStatus,
    FleetService.method.subscribeBatteryStatus,
    FleetService.method.subscribeConveyorStatus,
    FleetService.method.createWebhook,
    FleetService.method.listWebhooks,
    FleetService.method.deleteWebhook,
  ].map(({ name }) => name),
);

function unconfirmed(operation: string, robotId: string): Refusal {
  const whose = robotId === "" ? "" : ` for robot ${robotId}`;
  return withoutDeadline.has(operation)
    ? new Refusal("INTERNAL", `${operation}${whose} could not be delivered`)
    : new Refusal("DEADLINE_EXCEEDED", `${operation}${whose} was not confirmed in time`);
}

function internal(): Refusal {
  return new Refusal("INTERNAL", "a fault was switched on for this command");
}
