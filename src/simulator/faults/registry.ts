import type { Cancel, Clock } from "../../platform/clock.ts";
import type { CommandFault, ExchangeFault, Fault, LastingFault, StreamFault } from "../scenario/schema.ts";
import type { StreamMessage } from "../service/contract.ts";

/** Effects that only the running service has. */
export interface FaultEffects {
  endStreams(how: Extract<Fault, { kind: "end-streams" }>["how"]): void;
  expireTokens(): void;
  /** Closes every connection. */
  closeConnections(): void;
}

/** All active faults. */
export interface FaultRegistry {
  /** Switches a fault on, or applies it at once if it has no duration. */
  apply(fault: Fault): void;
  /** The active faults, with the counts that are left. */
  list(): readonly Fault[];
  clear(): void;
  /** Switches off the matching ones. */
  end(fits: (fault: Fault) => boolean): void;
  readonly commands: CommandFaults;
  readonly streams: StreamFaults;
  isSilent(): boolean;
  /** Whether no connection is allowed. */
  isCut(): boolean;
  exchange(): ExchangeFault["effect"] | undefined;
  /** How much before their `exp` tokens expire, in milliseconds. */
  tokenEarlyMs(): number;
}

export function createFaultRegistry(clock: Clock, effects: () => FaultEffects): FaultRegistry {
  const commands = createCommandFaults();
  const streams = createStreamFaults();
  const lasting = new Map<LastingFault["kind"], { readonly fault: LastingFault; readonly cancel: Cancel }>();

  function endLasting(kind: LastingFault["kind"]): void {
    lasting.get(kind)?.cancel();
    lasting.delete(kind);
  }

  function begin(fault: LastingFault): void {
    endLasting(fault.kind);
    const cancel =
      fault.forMs === undefined ? () => {} : clock.after(fault.forMs, () => endLasting(fault.kind));
    lasting.set(fault.kind, { fault, cancel });
  }

  function current<K extends LastingFault["kind"]>(kind: K): Extract<LastingFault, { kind: K }> | undefined {
    // The map's keys are the kinds of its values.
    return lasting.get(kind)?.fault as Extract<LastingFault, { kind: K }> | undefined;
  }

  return {
    apply(fault) {
      switch (fault.kind) {
        case "command":
          commands.add(fault);
          return;
        case "stream":
          streams.add(fault);
          return;
        case "cut":
          begin(fault);
          effects().closeConnections();
          return;
        case "silence":
        case "exchange":
        case "early-expiry":
          begin(fault);
          return;
        case "end-streams":
          effects().endStreams(fault.how);
          return;
        case "expire-tokens":
          effects().expireTokens();
          return;
      }
    },
    list: () => [...commands.list(), ...streams.list(), ...[...lasting.values()].map(({ fault }) => fault)],
    clear() {
      commands.clear();
      streams.clear();
      for (const kind of lasting.keys()) endLasting(kind);
    },
    end(fits) {
      commands.remove(fits);
      streams.remove(fits);
      for (const [kind, { fault }] of lasting) if (fits(fault)) endLasting(kind);
    },
    commands,
    streams,
    isSilent: () => lasting.has("silence"),
    isCut: () => lasting.has("cut"),
    exchange: () => current("exchange")?.effect,
    tokenEarlyMs: () => current("early-expiry")?.earlyMs ?? 0,
  };
}

/** Faults that wait for commands. */
export interface CommandFaults extends Omit<Armed<CommandFault>, "take"> {
  /** The effect of the first matching fault, which is thereby used once. */
  take(operation: string, robotId: string): CommandFault["effect"] | undefined;
}

export function createCommandFaults(): CommandFaults {
  const armed = createArmed<CommandFault>();
  return {
    ...armed,
    take: (operation, robotId) =>
      armed.take((fault) => concerns(fault.operation, operation) && (fault.robotId ?? robotId) === robotId)
        ?.effect,
  };
}

function concerns(named: CommandFault["operation"], operation: string): boolean {
  return named === undefined || (typeof named === "string" ? named === operation : named.includes(operation));
}

type Deliver = (message: StreamMessage) => void;

/** Applies faults between the world and each subscriber. */
interface StreamFaults extends Omit<Armed<StreamFault>, "take"> {
  /** The function that delivers to one subscriber of `stream`, through the faults. */
  shape(stream: string, deliver: Deliver): Deliver;
}

/** Faults are applied in the order in which they were added, at most one to a message. */
export function createStreamFaults(): StreamFaults {
  const armed = createArmed<StreamFault>();

  const take = (stream: string, robotId: string) =>
    armed.take((fault) => (fault.stream ?? stream) === stream && (fault.robotId ?? robotId) === robotId)
      ?.effect;

  return {
    ...armed,
    shape(stream, deliver) {
      // A message of a robot that waits until the next one has overtaken it.
      const overtaken = new Map<string, StreamMessage>();
      return (message) => {
        if (armed.list().length === 0 && overtaken.size === 0) {
          deliver(message);
          return;
        }
        const { robotId } = message;
        const late = overtaken.get(robotId);
        const effect = late === undefined ? take(stream, robotId) : undefined;
        if (effect === "drop") return;
        if (effect === "reorder") {
          overtaken.set(robotId, message);
          return;
        }
        deliver(message);
        if (effect === "repeat") deliver(message);
        if (late === undefined) return;
        overtaken.delete(robotId);
        deliver(late);
      };
    },
  };
}

/** Faults that wait for a command or a message, each for a number of times. */
interface Armed<F extends { readonly count: number }> {
  add(fault: F): void;
  /** The active faults, with the counts that are left. */
  list(): readonly F[];
  clear(): void;
  /** Switches off the matching ones. */
  remove(fits: (fault: F) => boolean): void;
  /** The first that matches, in the order in which they were added; it is thereby used once. */
  take(fits: (fault: F) => boolean): F | undefined;
}

function createArmed<F extends { readonly count: number }>(): Armed<F> {
  let armed: readonly F[] = [];
  return {
    add(fault) {
      armed = [...armed, fault];
    },
    list: () => armed,
    clear() {
      armed = [];
    },
    remove(fits) {
      armed = armed.filter((fault) => !fits(fault));
    },
    take(fits) {
      const found = armed.find(fits);
      if (found === undefined) return undefined;
      armed = armed
        .map((fault) => (fault === found ? { ...fault, count: fault.count - 1 } : fault))
        .filter(({ count }) => count > 0);
      return found;
    },
  };
}
