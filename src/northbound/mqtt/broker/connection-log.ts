import type { Socket } from "node:net";
import type { Clock } from "../../../platform/clock.ts";
import { createLineBudget } from "../../../platform/line-budget.ts";
import type { Log } from "../../../platform/log.ts";

/** Logs failed connections, within bounds: clients without a log-in can make any number of them. */
export interface ConnectionLog {
  /** Its address is read later, when it may be closed. */
  opened(socket: object): void;
  failed(socket: object, fields: Readonly<Record<string, string>>, message: string): void;
}

const BOUNDS = { most: 10, windowMs: 60_000 };

export function createConnectionLog(clock: Clock, log: Log): ConnectionLog {
  const addresses = new WeakMap<object, string>();
  const budget = createLineBudget(clock, BOUNDS, (count) =>
    log.info({ count }, "more MQTT connections have failed within a minute than the log names"),
  );
  return {
    opened(socket) {
      addresses.set(socket, addressIn(socket));
    },
    failed(socket, fields, message) {
      if (budget.take()) log.info({ from: addresses.get(socket) ?? addressIn(socket), ...fields }, message);
    },
  };
}

/** Empty: not known, or the gateway's own stream. */
function addressIn(socket: object): string {
  // Node has no public name for the socket below a TLS one. When both are closed, only that one knows its
  // address.
  const below: unknown = Reflect.get(socket, "_parent");
  const address =
    (socket as Partial<Socket>).remoteAddress ?? (below as Partial<Socket> | null)?.remoteAddress;
  return address ?? "";
}
