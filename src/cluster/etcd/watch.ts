import { create } from "@bufbuild/protobuf";
import type { ServiceError } from "@grpc/grpc-js";
import { createBackoff, type RandomSource } from "../../platform/backoff.ts";
import { type Cancel, type Clock, sleep } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { onAbort } from "../../platform/on-abort.ts";
import { type Event, Event_EventType } from "../../wire/etcd/kv_pb.js";
import { Watch, WatchRequestSchema, type WatchResponse } from "../../wire/etcd/rpc_pb.js";
import type { EtcdMember } from "./member.ts";
import type { Fault, Header } from "./outcome.ts";
import { callFault, faultOf } from "./outcome.ts";
import type { Route } from "./route.ts";
import { type Entry, entryOf, headerOf, type KeyRange, keyRange, keyText } from "./values.ts";

export type WatchEvent =
  | { readonly kind: "put"; readonly revision: bigint; readonly entry: Entry }
  | { readonly kind: "delete"; readonly revision: bigint; readonly key: string };

/** A watch that ended for good: it must be begun anew, from what a range shows. */
export type WatchEnd =
  /** Events before `revision` are gone, and the watch had not seen all of them. */
  | { readonly kind: "compacted"; readonly revision: bigint }
  | { readonly kind: "refused"; readonly fault: Fault };

export interface WatchHandlers {
  /** A connection stands; events follow from the next revision on. Called after each break again. */
  readonly onConnected?: (endpoint: string, header: Header) => void;
  /** Whole revisions, in their order, each once. `header` may be ahead of the events. */
  readonly onEvents: (events: readonly WatchEvent[], header: Header) => void;
  /** Called once. Not after `close`. */
  readonly onEnded: (end: WatchEnd) => void;
}

export interface WatchTarget {
  readonly prefix: string;
  /** The first revision whose events are wanted. */
  readonly fromRevision: bigint;
}

export interface WatchParts {
  readonly route: Route;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly log: Log;
  /** How long a member may say nothing, also when it is asked. */
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
}

/** A stream ended, and another member may go on. */
interface Broken {
  readonly kind: "broken";
  readonly fault: Fault;
}

const BACKOFF = { baseMs: 50, capMs: 2_000 };

/** Watches until it is refused or the signal is aborted, over breaks of the connection. */
export async function runWatch(
  target: WatchTarget,
  handlers: WatchHandlers,
  parts: WatchParts,
): Promise<void> {
  const { route, clock, random, log, deadlineMs, signal } = parts;
  const backoff = createBackoff(BACKOFF, random);
  const cursor: Cursor = {
    range: keyRange({ prefix: target.prefix }),
    next: target.fromRevision,
    clusterId: null,
  };
  while (!signal.aborted) {
    const beganAtMs = clock.monotonicMs();
    const [member] = route.order();
    if (member === undefined) throw new Error("etcd needs an endpoint");
    const problem = await member.connect(deadlineMs);
    if (signal.aborted) return;
    const end =
      problem === null
        ? await follow(member, cursor, handlers, parts)
        : { kind: "broken" as const, fault: problem };
    if (end === null) return;
    if (end.kind !== "broken") return handlers.onEnded(end);
    route.avoid(member);
    if (clock.monotonicMs() - beganAtMs > BACKOFF.capMs) backoff.reset();
    log.info(
      { prefix: target.prefix, next: String(cursor.next), problem: end.fault.message },
      "watch broken",
    );
    await sleep(clock, backoff.nextMs(), signal);
  }
}

/** How far a watch is, over all its streams. */
interface Cursor {
  readonly range: KeyRange;
  /** The first revision whose events were not handed out. */
  next: bigint;
  clusterId: bigint | null;
}

/** One stream from its begin to its end; null: the signal was aborted. */
function follow(
  member: EtcdMember,
  cursor: Cursor,
  handlers: WatchHandlers,
  { clock, deadlineMs, signal }: WatchParts,
): Promise<WatchEnd | Broken | null> {
  return new Promise((resolve) => {
    const stream = member.open(Watch.method.watch);
    /** Parts of a message whose last part has not come. */
    let parts: Event[] = [];
    let cancelTimer: Cancel = () => {};

    const end = (with_: WatchEnd | Broken | null) => {
      cancelTimer();
      stopListening();
      stream.removeAllListeners("data");
      stream.cancel();
      resolve(with_);
    };
    const broken = (code: string, what: string) =>
      end({ kind: "broken", fault: faultOf(member.endpoint, code, what, "another member is tried") });
    const stopListening = onAbort(signal, () => end(null));

    /** A member that says nothing is asked, and given up if it does not answer. */
    const listen = () => {
      cancelTimer();
      cancelTimer = clock.after(deadlineMs, () => {
        stream.write(create(WatchRequestSchema, { requestUnion: { case: "progressRequest", value: {} } }));
        cancelTimer = clock.after(deadlineMs, () => broken("SILENT", `no answer within ${deadlineMs} ms`));
      });
    };

    stream.on("data", (message) => {
      listen();
      const header = headerOf(message.header);
      cursor.clusterId ??= header.clusterId;
      if (header.clusterId !== cursor.clusterId) {
        const what = "this is another cluster than before";
        end({
          kind: "refused",
          fault: faultOf(member.endpoint, "OTHER_CLUSTER", what, "read everything anew"),
        });
      } else if (message.canceled) end(cancelOf(member.endpoint, message));
      else if (message.created) handlers.onConnected?.(member.endpoint, header);
      else {
        parts.push(...message.events);
        if (message.fragment) return;
        const events = parts;
        parts = [];
        hand(events, header, message.watchId, cursor, handlers);
      }
    });
    // `error` comes for every end but a good one. It stays, for a late error must not end the process.
    stream.on("error", (error: ServiceError) =>
      end({ kind: "broken", fault: callFault(member.endpoint, error) }),
    );
    stream.on("end", () => broken("UNAVAILABLE", "the member ended the watch"));
    listen();
    stream.write(
      create(WatchRequestSchema, {
        requestUnion: {
          case: "createRequest",
          value: {
            key: cursor.range.key,
            rangeEnd: cursor.range.rangeEnd,
            startRevision: cursor.next,
            progressNotify: true,
            fragment: true,
          },
        },
      }),
    );
  });
}

/** The answer to a progress request. */
const ASKED = -1n;

/**
 * Hands out what is new, and moves the cursor. etcd before 3.4.25 may send events twice, and answer a
 * progress request with a revision whose events are still to come. So that answer only shows that the member
 * lives, and an event message moves the cursor by its events. A progress message that was not asked for comes
 * in order.
 */
function hand(
  events: readonly Event[],
  header: Header,
  watchId: bigint,
  cursor: Cursor,
  handlers: WatchHandlers,
): void {
  const fresh = events.map(eventOf).filter(({ revision }) => revision >= cursor.next);
  const last = fresh.at(-1)?.revision ?? (events.length === 0 && watchId !== ASKED ? header.revision : 0n);
  if (last >= cursor.next) cursor.next = last + 1n;
  if (fresh.length > 0) handlers.onEvents(fresh, header);
}

function eventOf({ type, kv }: Event): WatchEvent {
  if (kv === undefined) throw new Error("etcd sent an event without a key");
  return type === Event_EventType.DELETE
    ? { kind: "delete", revision: kv.modRevision, key: keyText(kv.key) }
    : { kind: "put", revision: kv.modRevision, entry: entryOf(kv) };
}

function cancelOf(endpoint: string, { compactRevision, cancelReason }: WatchResponse): WatchEnd | Broken {
  if (compactRevision > 0n) return { kind: "compacted", revision: compactRevision };
  const isDenied = cancelReason.includes("permission denied");
  const what = cancelReason === "" ? "the member cancelled the watch" : cancelReason;
  return isDenied
    ? {
        kind: "refused",
        fault: faultOf(
          endpoint,
          "PERMISSION_DENIED",
          what,
          "give the user of this client a role for the prefix",
        ),
      }
    : { kind: "broken", fault: faultOf(endpoint, "CANCELLED", what, "another member is tried") };
}
