import type { ServerResponse } from "node:http";
import type { Batch, Sink } from "../../contracts/link.ts";
import type { StateChange } from "../../domain/change.ts";
import type { FleetEvent } from "../../domain/event.ts";
import type { Quality } from "../../domain/quality.ts";
import type { RobotId } from "../../domain/robot.ts";
import { namedEventJson } from "../../models/event.ts";
import { timeText } from "../../models/json-text.ts";
import { type Clock, every } from "../../platform/clock.ts";

/** The kinds that can be followed: the kinds of events, and `state`, the quality of a robot. */
export const tailKinds = [
  "mission",
  "alarm",
  "command",
  "conveyor",
  "lease",
  "hold",
  "dropped",
  "state",
] as const satisfies ReadonlyArray<FleetEvent["kind"] | "state">;
export type TailKind = (typeof tailKinds)[number];

export interface TailParts {
  /** Feeds a sink, beginning with a snapshot. The returned function detaches it. */
  readonly attachTail: (sink: Sink) => () => void;
  readonly sessionId: string;
  readonly clock: Clock;
}

/** The filter of a reader; an empty set means all. */
export interface TailFilter {
  readonly robots: ReadonlySet<RobotId>;
  readonly kinds: ReadonlySet<TailKind>;
}

/** Events as they happen, for a few readers. Without a reader it follows nothing. */
export interface Tail {
  /** Writes lines to a response from now on. False: the bound of readers is reached. */
  add(filter: TailFilter, response: ServerResponse): boolean;
  /** Ends all readers, with the reason. */
  close(): void;
}

export const MOST_READERS = 8;
/** A reader with more unread bytes is closed. */
const MOST_UNREAD_BYTES = 4_000_000;
/** Shows a reader that the gateway lives, and the gateway that the reader does. */
const ALIVE_MS = 5_000;

interface Reader {
  readonly filter: TailFilter;
  readonly response: ServerResponse;
}

interface Line {
  readonly kind: TailKind;
  readonly robotId: RobotId;
  readonly text: string;
}

type RobotChange = Extract<StateChange, { readonly kind: "robot" }>;

export function createTail({ attachTail, sessionId, clock }: TailParts): Tail {
  const readers = new Set<Reader>();
  const qualities = new Map<RobotId, Quality>();
  let stop = () => {};

  const time = () => timeText(clock.nowMs());

  function remove(reader: Reader): void {
    if (!readers.delete(reader) || readers.size > 0) return;
    stop();
    qualities.clear();
  }

  function end(reader: Reader, reason: string): void {
    remove(reader);
    reader.response.end(`${JSON.stringify({ kind: "closed", at: time(), reason })}\n`);
  }

  function send(reader: Reader, text: string): void {
    const { response } = reader;
    response.write(text);
    if (response.writableLength > MOST_UNREAD_BYTES)
      end(reader, `more than ${MOST_UNREAD_BYTES} bytes were not read`);
  }

  /** The first quality of a robot is that of the snapshot, and no news. */
  function stateLine({ robotId, quality }: RobotChange): Line | null {
    const before = qualities.get(robotId);
    qualities.set(robotId, quality);
    if (before === undefined || before === quality) return null;
    const fields = { kind: "state", robot_id: robotId, at: time(), from: before, to: quality };
    return { kind: "state", robotId, text: `${JSON.stringify(fields)}\n` };
  }

  function linesOf({ changes, events }: Batch): readonly Line[] {
    const states = changes.flatMap((change) => (change.kind === "robot" ? (stateLine(change) ?? []) : []));
    const happened = events.map((event): Line => {
      const { kind, robotId } = event;
      return { kind, robotId, text: `${namedEventJson(event, sessionId)}\n` };
    });
    return [...states, ...happened];
  }

  function write(batch: Batch): void {
    const lines = linesOf(batch);
    if (lines.length === 0) return;
    for (const reader of readers) {
      const wanted = lines.filter((line) => isWanted(reader.filter, line));
      if (wanted.length > 0) send(reader, wanted.map(({ text }) => text).join(""));
    }
  }

  function begin(): void {
    const over = new AbortController();
    const detach = attachTail({ write });
    every(clock, ALIVE_MS, over.signal, () => {
      for (const reader of readers) send(reader, `${JSON.stringify({ kind: "alive", at: time() })}\n`);
    });
    stop = () => {
      over.abort();
      detach();
    };
  }

  return {
    add(filter, response) {
      if (readers.size >= MOST_READERS) return false;
      const reader = { filter, response };
      readers.add(reader);
      if (readers.size === 1) begin();
      response.once("close", () => remove(reader));
      // A broken connection is closed; there is nothing else to do.
      response.on("error", () => {});
      send(reader, `${JSON.stringify({ kind: "open", at: time() })}\n`);
      return true;
    },
    close() {
      for (const reader of [...readers]) end(reader, "the gateway stops");
    },
  };
}

function isWanted({ robots, kinds }: TailFilter, { kind, robotId }: Line): boolean {
  return (robots.size === 0 || robots.has(robotId)) && (kinds.size === 0 || kinds.has(kind));
}
