import type { Client } from "@grpc/grpc-js";
import { LOOKS_A_SILENCE } from "../../domain/detection.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { FleetTimes } from "../options.ts";
import type { Connection } from "./connection.ts";

/** The right to one stream on a connection. */
export interface StreamPermit {
  readonly client: Client;
  /** Something came from the server on this connection. */
  proven(): void;
  /** Monotonic time of the last proof that the connection is alive. */
  provenAtMs(): number;
  /** Sends a ping now; resolves with whether it was answered. */
  prove(): Promise<boolean>;
  /**
   * The server left a stream and a plain call unanswered. It hangs; or it allows fewer streams than it says;
   * or, if it never answered anything on this connection, the connection is dead.
   */
  unanswered(): void;
  release(): void;
}

/** Receives changes of the connection of a permit. */
export interface PermitHolder {
  /** The connection accepts no new calls; those on it may end soon. */
  leaving(): void;
  /** The connection is dead: nothing came for too long. */
  silent(): void;
}

/** A connection of the pool, with the streams on it. */
export interface PooledConnection {
  readonly openedAtMs: number;
  streams(): number;
  /**
   * `leaving`: it accepts no new calls, and those on it end by themselves. `dead`: the same, and it is
   * silent.
   */
  phase(): "open" | "leaving" | "dead";
  /** Whether new streams go to it at all. */
  takesStreams(): boolean;
  hasRoom(): boolean;
  occupy(holder: PermitHolder): StreamPermit;
  /** It was cut, or the server sent GOAWAY. */
  leave(): void;
  /** Notifies the holders of permits that it leaves. */
  notifyHolders(): void;
  /** Checks whether it is silent. */
  look(): void;
  /** Closes it; open calls on it continue to their end. */
  close(): void;
}

export interface PooledConnectionParts {
  readonly times: FleetTimes;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether the server answers anything on this connection. */
  readonly prove: (client: Client) => Promise<boolean>;
  /** There may be room for another stream. */
  readonly onRoom: () => void;
  readonly onReleased: () => void;
  /** It accepts no new calls from now on. Called once, and not when it is closed. */
  readonly onLeft: () => void;
}

/** Beyond this, one connection's flow control and loss would hurt too many streams at once. */
const MOST_STREAMS = 1_000;
/** An answer that had only waited for room comes within this time. */
const AT_ONCE_MS = 1_000;
/** How long a connection that took fewer streams than the server says is not tried with more. */
const LOWERED_MS = 10 * 60_000;
/** A connection that lived this long was no failed attempt, even if the server then sends GOAWAY. */
export const SETTLED_MS = 1_000;

/** How many streams a connection takes. One is reserved for pings. */
export function capacityOf(streamLimit: number): number {
  return Math.max(1, Math.min(streamLimit - 1, MOST_STREAMS));
}

export function createPooledConnection(
  connection: Connection,
  parts: PooledConnectionParts,
): PooledConnection {
  const { client, streamLimit } = connection;
  const { clock, log, times } = parts;
  const holders = new Set<PermitHolder>();
  const liveness = createLiveness({ clock, ask: () => parts.prove(client), onAnswered });
  let phase: ReturnType<PooledConnection["phase"]> = "open";
  let capacity = fullCapacity(streamLimit);

  function onAnswered(before: Unresponsive): void {
    if (phase !== "open") return;
    capacity = capacityAfter(before, { capacity, streams: holders.size, nowMs: clock.monotonicMs(), log });
    parts.onRoom();
  }

  function giveUp(why: string): void {
    const before = phase;
    if (before === "dead" || (before === "leaving" && holders.size === 0)) return;
    phase = "dead";
    log.warn({ silentMs: Math.round(clock.monotonicMs() - liveness.provenAtMs()) }, why);
    for (const holder of [...holders]) holder.silent();
    if (before === "open") parts.onLeft();
  }

  const permit = (holder: PermitHolder): StreamPermit => ({
    client,
    proven: liveness.receive,
    provenAtMs: liveness.provenAtMs,
    prove: liveness.prove,
    unanswered() {
      if (!liveness.hasAnswered()) giveUp("a connection answers nothing: it is given up");
      else if (phase === "open")
        logUnresponsive(liveness.unanswered(), holders.size, liveness.provenAtMs(), log);
    },
    release() {
      if (!holders.delete(holder)) return;
      if (!liveness.isResponsive()) void liveness.prove();
      parts.onReleased();
    },
  });

  return {
    openedAtMs: clock.monotonicMs(),
    streams: () => holders.size,
    phase: () => phase,
    takesStreams: () => phase === "open" && liveness.isResponsive(),
    hasRoom: () => phase === "open" && liveness.isResponsive() && holders.size < capacity.streams,
    occupy(holder) {
      holders.add(holder);
      return permit(holder);
    },
    leave() {
      if (phase !== "open") return;
      phase = "leaving";
      parts.onLeft();
    },
    notifyHolders() {
      for (const holder of [...holders]) holder.leaving();
    },
    look() {
      const nowMs = clock.monotonicMs();
      const silentMs = nowMs - liveness.provenAtMs();
      // After the gateway itself was held up, silence may mean that nobody has asked.
      const wasAsked = liveness.askedInVainMs() >= times.streamSilenceMs / LOOKS_A_SILENCE / 2;
      if (silentMs > times.streamSilenceMs && (wasAsked || phase !== "open"))
        giveUp("a connection is silent: it is given up");
      // A call on a leaving connection would go by another one, and prove that one.
      else if (phase === "open" && (!liveness.isResponsive() || silentMs > times.streamSilenceMs / 2)) {
        void liveness.prove();
      }
      // It may have been a hang after all: then the connection that was made for the others can be closed.
      if (capacity.loweredAtMs !== null && nowMs - capacity.loweredAtMs > LOWERED_MS) {
        capacity = fullCapacity(streamLimit);
      }
    },
    close() {
      if (phase === "open") phase = "leaving";
      connection.close();
    },
  };
}

/** How many streams it takes, and since when these are fewer than the server says; null: they are not. */
type Capacity = { readonly streams: number; readonly loweredAtMs: number | null };

function fullCapacity(streamLimit: number): Capacity {
  return { streams: capacityOf(streamLimit), loweredAtMs: null };
}

/**
 * A server that continued with other streams, or answers as soon as one stream fewer waits, was not hanging:
 * it allows no more streams than the remaining ones.
 */
function capacityAfter(
  { sinceMs, haveOthersAnswered }: Unresponsive,
  now: { readonly capacity: Capacity; readonly streams: number; readonly nowMs: number; readonly log: Log },
): Capacity {
  const { capacity, nowMs, log } = now;
  if (!haveOthersAnswered && nowMs - sinceMs >= AT_ONCE_MS) {
    log.info({ muteMs: Math.round(nowMs - sinceMs) }, "a connection answers again");
    return capacity;
  }
  const streams = Math.max(1, Math.min(capacity.streams, now.streams));
  log.warn({ streams }, "the service answers fewer streams on a connection than it allows");
  return { streams, loweredAtMs: nowMs };
}

/** New streams use other connections until a plain call is answered again. */
function logUnresponsive(now: Unresponsive | null, streams: number, provenAtMs: number, log: Log): void {
  if (now === null) return;
  const why = now.haveOthersAnswered
    ? "a connection takes no further stream: new ones go elsewhere"
    : "a connection does not answer: new streams go elsewhere";
  log.warn({ streams, silentMs: Math.round(now.sinceMs - provenAtMs) }, why);
}

/** A connection that left a plain call unanswered. */
interface Unresponsive {
  readonly sinceMs: number;
  /** Whether other streams of it had messages meanwhile: then it may only have no room for another stream. */
  readonly haveOthersAnswered: boolean;
}

/** Tracks whether one connection is alive. Monotonic milliseconds. */
export interface Liveness {
  /** Something came from the server. */
  receive(): void;
  /** Whether anything ever came. */
  hasAnswered(): boolean;
  provenAtMs(): number;
  /** How long pings have had no answer since the last proof; 0: none was sent. */
  askedInVainMs(): number;
  /** Sends a ping; resolves with whether it was answered. Callers at the same time share one ping. */
  prove(): Promise<boolean>;
  /**
   * The server left a plain call unanswered.
   *
   * @returns null: that is known already
   */
  unanswered(): Unresponsive | null;
  isResponsive(): boolean;
}

export interface LivenessParts {
  readonly clock: Clock;
  readonly ask: () => Promise<boolean>;
  /** A plain call is answered again. */
  readonly onAnswered: (before: Unresponsive) => void;
}

/** An open connection counts as proven alive. */
function createLiveness({ clock, ask, onAnswered }: LivenessParts): Liveness {
  let hasAnswered = false;
  let provenAtMs = clock.monotonicMs();
  let askedAtMs = provenAtMs;
  let firstAskedAtMs: number | null = null;
  let asking: Promise<boolean> | null = null;
  let unresponsive: Unresponsive | null = null;

  function receive(): void {
    hasAnswered = true;
    firstAskedAtMs = null;
    provenAtMs = clock.monotonicMs();
  }

  function settle(isAnswered: boolean): boolean {
    asking = null;
    if (!isAnswered) return false;
    receive();
    const before = unresponsive;
    unresponsive = null;
    if (before !== null) onAnswered(before);
    return true;
  }

  return {
    receive,
    hasAnswered: () => hasAnswered,
    provenAtMs: () => provenAtMs,
    askedInVainMs: () => (firstAskedAtMs === null ? 0 : clock.monotonicMs() - firstAskedAtMs),
    prove() {
      if (asking === null) askedAtMs = clock.monotonicMs();
      firstAskedAtMs ??= askedAtMs;
      asking ??= ask().then(settle);
      return asking;
    },
    unanswered() {
      if (unresponsive !== null) return null;
      unresponsive = { sinceMs: clock.monotonicMs(), haveOthersAnswered: provenAtMs > askedAtMs };
      return unresponsive;
    },
    isResponsive: () => unresponsive === null,
  };
}
