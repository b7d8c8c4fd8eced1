import type { Socket } from "node:net";
import { clip } from "../../../domain/foreign-text.ts";
import type { Clock } from "../../../platform/clock.ts";
import { createBoundedConnections } from "../../../platform/listener.ts";
import type { Log } from "../../../platform/log.ts";
import { createRecurringProblem } from "../../../platform/log-bounds.ts";

/** Bounds on the connections of the embedded broker: in all, for each user, and before the log-in. */
export interface ClientLimits {
  /** A connection without a CONNECT so far. Above the bound the oldest one is closed. */
  connected(socket: Socket): void;
  /** The connection has another socket now: the TLS one. */
  replaced(socket: Socket): void;
  /** A log-in under this name; false: a bound of that name or of all is reached. */
  loggedIn(socket: Socket, user: string): boolean;
  /** Why connections are refused or closed; null: none was within the last half minute. */
  problem(): string | null;
  figures(): {
    readonly clients: number;
    readonly clientsRefused: number;
    readonly unfinished: number;
    readonly unfinishedClosed: number;
  };
}

const CLIENTS = 500;
/** Of one user, so that it cannot take all connections. */
const CLIENTS_OF_A_USER = 250;
/** Reserved for each user of the configuration, whatever the others do. */
const KEPT_FOR_A_USER = 4;
/** Connections without a CONNECT so far. */
const UNFINISHED = 100;
/** Longest user name in a log line. */
const LONGEST_NAME = 128;

/** @param knownNow returns the present users of the configuration, by the names that `loggedIn` gets */
export function createClientLimits(clock: Clock, log: Log, knownNow: () => readonly string[]): ClientLimits {
  const users = new Map<Socket, string>();
  let clientsRefused = 0;
  let reason = "";
  const refusing = createRecurringProblem(clock, () =>
    log.info({}, "no MQTT connection is refused any more"),
  );
  const unfinished = createBoundedConnections(
    () => UNFINISHED,
    (address) =>
      note(`more than ${UNFINISHED} connections have sent no CONNECT: the oldest are closed for new ones`, {
        address,
      }),
  );

  function note(problem: string, fields: Readonly<Record<string, string>>): void {
    reason = problem;
    if (refusing.note()) log.warn(fields, problem);
  }

  function reachedBound(user: string): string | null {
    // Counted by socket: the count of aedes drifts when clients take over each other's sessions.
    const counts = new Map<string, number>();
    for (const name of users.values()) counts.set(name, (counts.get(name) ?? 0) + 1);
    const ofUser = counts.get(user) ?? 0;
    const known = knownNow();
    const kept = Math.min(KEPT_FOR_A_USER, Math.floor(CLIENTS / 2 / Math.max(1, known.length)));
    if (known.includes(user) && ofUser < kept) return null;
    const others = known.filter((name) => name !== user);
    const keptForOthers = others.reduce((sum, name) => sum + Math.max(0, kept - (counts.get(name) ?? 0)), 0);
    if (users.size + keptForOthers >= CLIENTS) {
      return `${users.size} MQTT clients are connected, and the rest is kept for other users: no more are accepted`;
    }
    if (ofUser < CLIENTS_OF_A_USER) return null;
    return `${CLIENTS_OF_A_USER} MQTT clients of one user are connected: no more of it are accepted`;
  }

  return {
    connected: unfinished.add,
    replaced: unfinished.remove,
    loggedIn(socket, user) {
      unfinished.remove(socket);
      const bound = reachedBound(user);
      if (bound !== null) {
        clientsRefused += 1;
        note(bound, { user: clip(user, LONGEST_NAME) });
        return false;
      }
      users.set(socket, user);
      socket.once("close", () => users.delete(socket));
      return true;
    },
    problem: () => (refusing.isRecurring() ? reason : null),
    figures() {
      const { open, closed } = unfinished.figures();
      return { clients: users.size, clientsRefused, unfinished: open, unfinishedClosed: closed };
    },
  };
}

/**
 * Checks the framing of an MQTT byte stream: a fixed header gives the length of its packet, and aedes would
 * collect up to 256 MB for one before it is checked. The returned function is called with each chunk, and
 * returns whether all is well.
 */
export function createFrameLimit(limitBytes: number): (chunk: Uint8Array) => boolean {
  /** Bytes of the current packet's body still to come; negative while its header is read. */
  let bodyLeft = -1;
  let length = 0;
  let shift = 0;
  let typeSeen = false;
  return (chunk) => {
    let at = 0;
    while (at < chunk.byteLength) {
      if (bodyLeft > 0) {
        const skipped = Math.min(bodyLeft, chunk.byteLength - at);
        bodyLeft -= skipped;
        at += skipped;
        if (bodyLeft === 0) bodyLeft = -1;
        continue;
      }
      const byte = chunk[at] ?? 0;
      at += 1;
      if (!typeSeen) {
        typeSeen = true;
        length = 0;
        shift = 0;
        continue;
      }
      // The remaining length: seven bits a byte, lowest first, at most four bytes (MQTT 3.1.1, 2.2.3).
      length += (byte & 0x7f) << shift;
      shift += 7;
      const more = (byte & 0x80) !== 0;
      if (length > limitBytes || (more && shift > 21)) return false;
      if (more) continue;
      typeSeen = false;
      bodyLeft = length === 0 ? -1 : length;
    }
    return true;
  };
}
