import {
  type DescMessage,
  type DescMethodUnary,
  fromJson,
  type JsonValue,
  type MessageShape,
} from "@bufbuild/protobuf";
import type { Cancel, Clock } from "../../platform/clock.ts";
import {
  FleetService,
  type SubscribeBatteryStatusRequest,
  type SubscribeConveyorStatusRequest,
} from "../../wire/fleet/v1/service_pb.js";
import { type CodeName, codes, invalid, Refusal } from "../refusal.ts";
import type { FleetOperations, StreamMessage } from "../service/contract.ts";
import { isRead } from "../service/operations.ts";
import { type RecordedAnswer, type RecordedMessage, type ReplayScript, requestKey } from "./script.ts";

type Deliver = (message: StreamMessage) => void;

/** The robots that a subscriber wants. */
type Wanted =
  | { readonly kind: "robots"; readonly ids: readonly string[] }
  | { readonly kind: "location"; readonly id: string };

/** Plays the messages of a recording to subscribers. */
interface Player {
  /**
   * Delivers the latest message of each robot before it returns, then later ones. The returned function ends
   * it.
   */
  subscribe(method: string, wanted: Wanted, deliver: Deliver): () => void;
  /** Whether the recording has messages of this method and robot. */
  has(method: string, robotId: string): boolean;
  /** The recorded answer to a poll at the present moment of the replay; undefined: there is none. */
  polled(key: string): RecordedAnswer | undefined;
  robots(): number;
  stop(): void;
}

export interface PlayerOptions {
  /** How many times faster than it was recorded. */
  readonly speed: number;
  /** The last message was played. */
  readonly onEnd?: (() => void) | undefined;
}

/** How long to wait for subscriptions that the recorded gateway had, and that this one may not make. */
const LONGEST_WAIT_MS = 10_000;

/**
 * It begins when each robot of the recording is subscribed to for all that it has sent, or 10 s after the
 * first subscription. Until then a robot is as its first message shows it.
 */
export function createPlayer(
  { startedAtMs, messages, polls, locations }: ReplayScript,
  { speed, onEnd }: PlayerOptions,
  clock: Clock,
): Player {
  const latest = new Map<string, RecordedMessage>();
  const steps = messages.filter((message) => {
    const key = keyOf(message.method, message.robotId);
    const isFirst = !latest.has(key);
    if (isFirst) latest.set(key, message);
    return !isFirst;
  });
  const subscribers = new Set<{ wants(message: RecordedMessage): boolean; deliver: Deliver }>();
  const missing = new Set(latest.keys());
  let next = 0;
  /** On the monotonic clock; null: it has not begun. */
  let begunAtMs: number | null = null;
  let cancel: Cancel | null = null;

  const playedMs = () => (begunAtMs === null ? 0 : (clock.monotonicMs() - begunAtMs) * speed);

  function begin(): void {
    cancel?.();
    begunAtMs = clock.monotonicMs();
    play();
  }

  function play(): void {
    const untilMs = startedAtMs + playedMs();
    let step = steps[next];
    for (; step !== undefined && step.atMs <= untilMs; step = steps[next]) {
      next += 1;
      latest.set(keyOf(step.method, step.robotId), step);
      const message = streamMessage(step);
      for (const subscriber of subscribers) if (subscriber.wants(step)) subscriber.deliver(message);
    }
    if (step === undefined) onEnd?.();
    else cancel = clock.after((step.atMs - untilMs) / speed, play);
  }

  function received(key: string): void {
    if (begunAtMs !== null) return;
    cancel ??= clock.after(LONGEST_WAIT_MS, begin);
    // The latest messages are delivered first: a subscriber gets no other message before them.
    if (missing.delete(key) && missing.size === 0) setImmediate(begin);
  }

  return {
    subscribe(method, wanted, deliver) {
      const wants = (message: RecordedMessage) =>
        message.method === method && isWanted(wanted, message.robotId, locations);
      const subscriber = { wants, deliver };
      for (const [key, message] of latest) {
        if (!wants(message)) continue;
        deliver(streamMessage(message));
        received(key);
      }
      subscribers.add(subscriber);
      return () => void subscribers.delete(subscriber);
    },
    has: (method, robotId) => latest.has(keyOf(method, robotId)),
    polled(key) {
      const answers = polls.get(key) ?? [];
      const untilMs = startedAtMs + playedMs();
      return answers.findLast(({ atMs }) => atMs <= untilMs) ?? answers[0];
    },
    robots: () => new Set(Array.from(latest.values(), ({ robotId }) => robotId)).size,
    stop: () => cancel?.(),
  };
}

function isWanted(wanted: Wanted, robotId: string, locations: ReadonlyMap<string, string>): boolean {
  if (wanted.kind === "robots") return wanted.ids.includes(robotId);
  // A gateway that named its robots has recorded no locations: then every robot is at every location.
  return (locations.get(robotId) ?? wanted.id) === wanted.id;
}

function keyOf(method: string, robotId: string): string {
  return `${method} ${robotId}`;
}

function streamMessage({ robotId, bytes }: RecordedMessage): StreamMessage {
  return { robotId, message: null, bytes: () => bytes };
}

const NOTHING = "the recording has no answer to this request";

/**
 * The fleet service of a recording. A command gets the answer of the same recorded request, each answer once:
 * a mission is not made twice. A read gets the last answer again. Requests without a recorded answer get
 * UNAVAILABLE.
 */
export function createReplayOperations(
  script: ReplayScript,
  player: Player,
  speed: number,
  clock: Clock,
): FleetOperations {
  const taken = new Map<string, number>();

  function answerOf(key: string, isRead: boolean): RecordedAnswer | undefined {
    const polled = player.polled(key);
    if (polled !== undefined) return polled;
    const answers = script.answers.get(key) ?? [];
    const index = taken.get(key) ?? 0;
    taken.set(key, index + 1);
    return answers[index] ?? (isRead ? answers.at(-1) : undefined);
  }

  return {
    async call(method, _caller, request) {
      const answer = answerOf(requestKey(method, request), isRead(method));
      if (answer === undefined) throw new Refusal("UNAVAILABLE", NOTHING);
      await new Promise<void>((resolve) => void clock.after(answer.delayMs / speed, resolve));
      if (answer.code !== 0) throw new Refusal(codeName(answer.code), answer.text);
      return messageOf(method, answer.text);
    },
    subscribe(method, _caller, request, deliver) {
      return player.subscribe(method.name, wantedOf(player, method.name, request), deliver);
    },
  };
}

/** The robots of a stream's request. Throws a Refusal if the service refuses it. */
function wantedOf(player: Player, method: string, request: unknown): Wanted {
  if (method === FleetService.method.subscribeConveyorStatus.name) {
    const { robotId } = request as SubscribeConveyorStatusRequest;
    if (player.has(method, robotId)) return { kind: "robots", ids: [robotId] };
    throw invalid(`robot ${robotId} is not of the cart family`);
  }
  const target = (request as SubscribeBatteryStatusRequest).selector?.targetId;
  if (target?.case === "robotIds") return { kind: "robots", ids: target.value.ids };
  if (target?.case === "locationId") return { kind: "location", id: target.value };
  throw invalid("selector: one of robot_ids and location_id is required");
}

function messageOf<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  json: string,
): MessageShape<O> {
  return fromJson(method.output, JSON.parse(json) as JsonValue, { ignoreUnknownFields: true });
}

function codeName(number: number): CodeName {
  const found = Object.entries(codes).find(([, code]) => code === number);
  return (found?.[0] as CodeName | undefined) ?? "UNKNOWN";
}
