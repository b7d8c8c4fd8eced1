import {
  type DescMethod,
  fromBinary,
  fromJson,
  type JsonValue,
  type Message,
  toJson,
} from "@bufbuild/protobuf";
import { type Entry, type Recording, readRecording } from "../../platform/recorder/recording.ts";
import { TaskService } from "../../wire/fleet/http/v1/task_pb.js";
import { FleetService } from "../../wire/fleet/v1/service_pb.js";

/** A stream message of a recording. */
export interface RecordedMessage {
  readonly atMs: number;
  readonly method: string;
  readonly robotId: string;
  readonly bytes: Uint8Array;
}

/** The recorded answer to a call or a poll. */
export interface RecordedAnswer {
  readonly atMs: number;
  /** From the request to the answer. */
  readonly delayMs: number;
  /** A gRPC code. */
  readonly code: number;
  /** JSON, or the text of the refusal. */
  readonly text: string;
}

/** The content of a replay, in the order of time. */
export interface ReplayScript {
  readonly startedAtMs: number;
  readonly messages: readonly RecordedMessage[];
  /** By `requestKey`. */
  readonly answers: ReadonlyMap<string, readonly RecordedAnswer[]>;
  readonly polls: ReadonlyMap<string, readonly RecordedAnswer[]>;
  /** The location of each robot whose stream was asked for by location. */
  readonly locations: ReadonlyMap<string, string>;
}

const CONVEYORS = FleetService.method.subscribeConveyorStatus.name;
const byName = new Map<string, DescMethod>(
  [...FleetService.methods, ...TaskService.methods].map((method) => [method.name, method]),
);

/** A key of a request, independent of its encoding. */
export function requestKey(method: DescMethod, request: Message): string {
  return `${method.name} ${JSON.stringify(toJson(method.input, request))}`;
}

/** Reads a recording. Rejects with NoRecording. */
export async function readScript(path: string): Promise<ReplayScript> {
  return scriptOf(await readRecording(path));
}

function scriptOf({ entries }: Recording): ReplayScript {
  const messages: RecordedMessage[] = [];
  const answers = new Map<string, RecordedAnswer[]>();
  const polls = new Map<string, RecordedAnswer[]>();
  const locations = new Map<string, string>();
  /** Calls without an answer so far. A run of the gateway counts its calls from 1. */
  const called = new Map<number, { readonly key: string; readonly atMs: number }>();
  for (const entry of entries) {
    const { kind, atMs, id, code, name } = entry;
    const method = byName.get(name);
    if (method === undefined) continue;
    if (kind === "message") {
      const message = messageOf(method, entry);
      if (message === null) continue;
      messages.push(message);
      const location = entry.first.toString();
      if (name !== CONVEYORS && location !== "") locations.set(message.robotId, location);
    } else if (kind === "call") {
      const key = keyOfBytes(method, entry.first);
      if (key !== null) called.set(id, { key, atMs });
    } else if (kind === "answer") {
      const call = called.get(id);
      called.delete(id);
      const text = entry.second.toString();
      // The answers of webhook operations are withheld.
      if (call === undefined || text === "") continue;
      add(answers, call.key, { atMs, delayMs: Math.max(0, atMs - call.atMs), code, text });
    } else if (kind === "read") {
      const key = keyOfJson(method, entry.first.toString());
      if (key !== null) add(polls, key, { atMs, delayMs: 0, code: 0, text: entry.second.toString() });
    }
  }
  return { startedAtMs: entries[0]?.atMs ?? 0, messages, answers, polls, locations };
}

/** Null: the bytes are no such message, which only a foreign service sends. */
function messageOf(method: DescMethod, { atMs, name, first, second: bytes }: Entry): RecordedMessage | null {
  if (name === CONVEYORS) return { atMs, method: name, robotId: first.toString(), bytes };
  try {
    const message: Message & { readonly robotId?: string } = fromBinary(method.output, bytes);
    return { atMs, method: name, robotId: message.robotId ?? "", bytes };
  } catch {
    return null;
  }
}

/** Null: the file is damaged there. */
function keyOfJson(method: DescMethod, text: string): string | null {
  try {
    return requestKey(method, fromJson(method.input, JSON.parse(text) as JsonValue));
  } catch {
    return null;
  }
}

function keyOfBytes(method: DescMethod, bytes: Uint8Array): string | null {
  try {
    return requestKey(method, fromBinary(method.input, bytes));
  } catch {
    return null;
  }
}

function add(to: Map<string, RecordedAnswer[]>, key: string, answer: RecordedAnswer): void {
  const before = to.get(key);
  if (before === undefined) to.set(key, [answer]);
  else before.push(answer);
}
