import { computed, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { Robot } from "../northbound/web/api/robot.ts";
import type { StreamMessages } from "../northbound/web/api/stream.ts";
import { type EventLog, listening, withEvent, withGap } from "./fleet/events.ts";
import { begun, changed, type Fleet, type Reception, silenceOf, ticked, withRobots } from "./fleet/fleet.ts";
import { createLister, type Listing } from "./fleet/list.ts";
import { type ServerSentEvent, StreamEnded, type StreamState } from "./stream/stream.ts";
import { say } from "./texts/texts.ts";
import { createBacklog, type Liveness } from "./trust/liveness.ts";
import type { Dated, Moment } from "./trust/time-text.ts";

/** The state for the views. Each signal is replaced as a whole. */
export interface Store {
  readonly fleet: Signal<Fleet | null>;
  /** Null: the page has not received any yet. */
  readonly events: Signal<EventLog | null>;
  readonly stream: Signal<StreamState>;
  /** Whether the shown values are known to be true now. */
  readonly isLive: Signal<boolean>;
  /** Renewed twice a second, and with each tick. */
  readonly now: Signal<Moment>;
  /** The newest online list, if the next one is late; null: it is not, or there are none. */
  readonly silence: ReadonlySignal<Dated | null>;
  /** Null: no fleet is known yet. */
  readonly listing: ReadonlySignal<Listing | null>;
  /** The gateway's clock as the newest tick had it; null: none was received. */
  readonly clock: Signal<GatewayClock | null>;
  /** The newest tick, which a start must name; null: none was received. */
  readonly tickId: Signal<string | null>;
  /** Handles an event of the stream. */
  take(event: ServerSentEvent): void;
  /** Another stream begins, which does not know what was missed since the last one. */
  beginAnew(): void;
  /** Reads the clocks. */
  look(): void;
  /** Clears everything: the user may no longer see it. */
  forget(): void;
}

/** A time of the gateway's clock, and when the page heard it. */
export interface GatewayClock {
  readonly atMs: number;
  readonly heardAt: Moment;
}

export interface StoreParts {
  readonly liveness: Liveness;
  readonly now: () => Moment;
  readonly isMotionReduced: () => boolean;
}

/** Of the gateway's ticks. */
const TICK_PERIOD_MS = 1_000;

export function createStore({ liveness, now, isMotionReduced }: StoreParts): Store {
  const fleet = signal<Fleet | null>(null);
  const events = signal<EventLog | null>(null);
  const stream = signal<StreamState>({ state: "connecting" });
  const isLive = signal(false);
  const time = signal(now());
  const tickId = signal<string | null>(null);
  const clock = signal<GatewayClock | null>(null);
  const byTime = createBacklog();
  const byCount = createBacklog();
  let ticks = 0;
  /** Whether the stream, when it connects again, names the last received event. */
  let canResume = false;
  /** The fleet of an incomplete snapshot. */
  let coming: Fleet | null = null;

  const reception = (): Reception => ({ now: now(), delayMs: delayMs(), isMotionReduced: isMotionReduced() });
  // One alone could be wrong: a clock may be set, and a gateway that hangs sends no ticks.
  const delayMs = () => Math.min(byTime.delayMs(), byCount.delayMs());

  function begin(snapshot: StreamMessages["snapshot"]): void {
    byTime.reset();
    byCount.reset();
    coming = begun(snapshot);
    events.value = listening(events.peek(), snapshot.at, canResume);
  }

  function addRobots(robots: readonly Robot[], isWhole: boolean): void {
    if (coming === null) return;
    coming = withRobots(coming, fleet.peek(), robots, reception());
    if (!isWhole) return;
    fleet.value = coming;
    coming = null;
  }

  function tick(message: StreamMessages["tick"]): void {
    const { now: moment } = reception();
    byTime.note(Date.parse(message.at), moment.monotonicMs);
    ticks += 1;
    byCount.note(ticks * TICK_PERIOD_MS, moment.monotonicMs);
    const known = fleet.peek();
    // Until a snapshot is complete, the shown values are old.
    if (known === null || coming !== null) return;
    fleet.value = ticked(known, message, reception());
    tickId.value = message.id;
    clock.value = { atMs: Date.parse(message.at) + delayMs(), heardAt: moment };
    liveness.tick(delayMs());
    look();
  }

  function change(message: StreamMessages["change"]): void {
    if (coming !== null) coming = changed(coming, message, reception());
    else if (fleet.peek() !== null) fleet.value = changed(fleet.peek() as Fleet, message, reception());
  }

  function receive(add: (log: EventLog) => EventLog): void {
    const log = events.peek();
    if (log === null) return;
    canResume = true;
    events.value = add(log);
  }

  function look(): void {
    isLive.value = liveness.isLive();
    time.value = now();
  }

  return {
    fleet,
    events,
    stream,
    isLive,
    now: time,
    ...derivedOf(fleet, time),
    tickId,
    clock,
    look,
    beginAnew() {
      canResume = false;
    },
    forget() {
      fleet.value = null;
      events.value = null;
      canResume = false;
      coming = null;
      tickId.value = null;
      clock.value = null;
      liveness.lose();
      look();
    },
    take({ name, data }) {
      const message: unknown = JSON.parse(data);
      if (isA("snapshot", name, message)) begin(message);
      else if (isA("robots", name, message)) addRobots(message.robots, !message.more);
      else if (isA("tick", name, message)) tick(message);
      else if (isA("change", name, message)) change(message);
      else if (isA("event", name, message)) receive((log) => withEvent(log, message));
      else if (isA("gap", name, message)) receive((log) => withGap(log, message));
      else if (isA("closed", name, message) && !message.reconnect) throw new StreamEnded(message.reason);
    },
  };
}

/** Computed once for all views. */
function derivedOf(fleet: Store["fleet"], now: Store["now"]): Pick<Store, "silence" | "listing"> {
  const list = createLister();
  const silence = computed(() => (fleet.value === null ? null : silenceOf(fleet.value, now.value)));
  return {
    silence,
    listing: computed(() => (fleet.value === null ? null : list(fleet.value, silence.value !== null))),
  };
}

/** Unchecked: the page is the gateway's own, and a test compares the messages with their models. */
function isA<Name extends keyof StreamMessages>(
  wanted: Name,
  name: string,
  _message: unknown,
): _message is StreamMessages[Name] {
  return name === wanted;
}

/** Updates the title of the page. */
export function showTitle(store: Store, page: { title: string }, subject: () => string): void {
  effect(() => {
    const gateway = store.fleet.value?.gatewayId ?? "Fleetgate";
    const name = subject() === "" ? gateway : say("title.of", { subject: subject(), gateway });
    page.title = store.isLive.value ? name : say("title.notLive", { name });
  });
}
