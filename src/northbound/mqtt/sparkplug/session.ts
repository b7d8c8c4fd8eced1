import type { Clock } from "../../../platform/clock.ts";
import { createTimeSlices } from "../../../platform/loop-time.ts";
import type { Loss } from "../client/client.ts";
import type { LimitedClient } from "../client/limited-client.ts";
import type { Device } from "./device.ts";
import { encodePayload, type PayloadParts, type Sample } from "./payload.ts";
import type { Plant } from "./plant.ts";
import type { SparkplugTopics } from "./topics.ts";

export interface SessionParts {
  readonly client: LimitedClient;
  readonly topics: SparkplugTopics;
  readonly plant: Plant;
  readonly loss: Loss;
  readonly counts: SparkplugCounts;
  readonly clock: Clock;
  /** This birth of the node was published. */
  readonly onBirth: (payload: Buffer) => void;
}

/** Messages since the gateway started. */
export interface SparkplugCounts {
  births: number;
  deviceBirths: number;
  deviceDeaths: number;
  data: number;
  historical: number;
  rebirthsMerged: number;
}

export function noCounts(): SparkplugCounts {
  return { births: 0, deviceBirths: 0, deviceDeaths: 0, data: 0, historical: 0, rebirthsMerged: 0 };
}

/** What the edge node says on one connection. One call at a time, each awaited. */
export interface SparkplugSession {
  /** Whether the node was born on this connection. */
  isBorn(): boolean;
  /** When the node was born last on this connection, by the wall clock. */
  bornAtMs(): number;
  /** No more data before the next birth, which has all values. */
  stopData(): void;
  /** Whether data wait for a birth that was asked for. */
  isBirthDue(): boolean;
  /** NBIRTH, and the births of all devices that are alive. */
  birth(): Promise<void>;
  /** Births, deaths and data of what has changed. */
  flush(): Promise<void>;
  /** Data of the node at once: they do not wait for births. */
  sayNode(): void;
  /** Values of the past, of one device. Those of a device that is not born wait for its birth. */
  history(device: Device, samples: readonly Sample[]): void;
  /** Nothing is published any more: the death comes next. */
  end(): void;
}

/** Values of the past, of one device. */
interface Past {
  readonly device: Device;
  readonly samples: readonly Sample[];
}

/** Beyond it, the oldest of those that wait for a birth are dropped. */
const MOST_HELD = 1_000;
const SEQUENCE_NUMBERS = 256;

export function createSession({
  client,
  topics,
  plant,
  loss,
  counts,
  clock,
  onBirth,
}: SessionParts): SparkplugSession {
  const { node } = plant;
  /** The devices that are born, each with the topic of its data. */
  const born = new Map<Device, string>();
  const held = createHeld();
  let isBorn = false;
  let isBirthDue = false;
  let isOver = false;
  let bornAtMs = 0;
  let seq = 0;
  const settling = createSettling(plant, clock);

  function publish(topic: string, parts: Pick<PayloadParts, "samples" | "isBirth">): Buffer {
    // The clock may be set back: no message is older than the birth.
    const payload = encodePayload({ atMs: Math.max(bornAtMs, clock.nowMs()), seq, ...parts });
    client.publishData(topic, payload);
    seq = (seq + 1) % SEQUENCE_NUMBERS;
    return payload;
  }

  function bear(device: Device): void {
    counts.deviceBirths += 1;
    born.set(device, topics.device("DDATA", device.id));
    publish(topics.device("DBIRTH", device.id), { samples: device.birth(), isBirth: true });
  }

  function bury(device: Device): void {
    if (!born.delete(device)) return;
    counts.deviceDeaths += 1;
    publish(topics.device("DDEATH", device.id), { samples: [], isBirth: false });
  }

  function isToBearOrBury([device, isAlive]: [Device, () => boolean]): boolean {
    return isAlive() ? !born.has(device) || device.hasNew() : born.has(device);
  }

  function bearOrBury([device, isAlive]: [Device, () => boolean]): void {
    if (!isAlive()) bury(device);
    else if (!born.has(device) || device.hasNew()) {
      settling.found();
      bear(device);
    }
  }

  function sayChanged(device: Device): void {
    const topic = born.get(device);
    if (topic !== undefined) publishData(topic, device);
  }

  function publishData(topic: string, device: Device): void {
    const samples = device.takeChanged();
    if (samples.length === 0) return;
    counts.data += 1;
    publish(topic, { samples, isBirth: false });
  }

  function sayNode(): void {
    if (!isBirthDue && !isOver) publishData(topics.node("NDATA"), node.device);
  }

  function publishPast({ device, samples }: Past): void {
    counts.historical += samples.length;
    publish(topics.device("DDATA", device.id), { samples, isBirth: false });
  }

  const each = <T>(all: Iterable<T>, act: (one: T) => void) =>
    inSlices(client, loss, all, act, () => isBirthDue || isOver);

  return {
    isBorn: () => isBorn && !isOver,
    bornAtMs: () => bornAtMs,
    isBirthDue: () => isBirthDue && !isOver,
    end() {
      isOver = true;
    },
    stopData() {
      isBirthDue = true;
    },
    async birth() {
      if (isOver) return;
      isBirthDue = false;
      settling.begin();
      counts.births += 1;
      const alive = new Set(plant.alive());
      // A host would go on showing what is born no more as it was.
      for (const device of born.keys()) if (!alive.has(device)) bury(device);
      born.clear();
      seq = 0;
      bornAtMs = clock.nowMs();
      onBirth(publish(topics.node("NBIRTH"), { samples: node.device.birth(), isBirth: true }));
      isBorn = true;
      await each([...alive], bear);
    },
    async flush() {
      if (isBirthDue || isOver) return;
      const touched = plant.takeTouched();
      if ([...touched].some(isToBearOrBury)) await each(touched, bearOrBury);
      if (isBirthDue || isOver) return;
      if (!settling.isOver()) return plant.touchAgain(touched);
      sayNode();
      await each(touched.keys(), sayChanged);
      const due = held.take(born);
      if (due.length > 0) await each(due, publishPast);
    },
    sayNode,
    history(device, samples) {
      if (samples.length === 0) return;
      if (born.has(device) && !isBirthDue && settling.isOver()) return publishPast({ device, samples });
      held.keep({ device, samples });
    },
  };
}

/** What waits for the births of its devices. */
function createHeld() {
  let held: Past[] = [];
  return {
    keep(past: Past): void {
      held.push(past);
      if (held.length > MOST_HELD) held.shift();
    },
    /** What waits no more, for its device is born. */
    take(born: ReadonlyMap<Device, unknown>): readonly Past[] {
      const due = held.filter(({ device }) => born.has(device));
      if (due.length > 0) held = held.filter(({ device }) => !born.has(device));
      return due;
    },
  };
}

/** In time slices, and no faster than the broker reads, until `isEnded`. */
async function inSlices<T>(
  { stream }: LimitedClient,
  loss: Loss,
  all: Iterable<T>,
  act: (one: T) => void,
  isEnded: () => boolean,
): Promise<void> {
  const slices = createTimeSlices();
  stream.cork();
  try {
    for (const one of all) {
      const cause = loss.cause();
      if (cause !== null) throw cause;
      if (isEnded()) return;
      act(one);
      const pause = slices.next();
      if (pause === undefined && !stream.writableNeedDrain) continue;
      stream.uncork();
      try {
        await pause;
        if (stream.writableNeedDrain) await loss.orElse((done) => stream.once("drain", () => done()));
      } finally {
        stream.cork();
      }
    }
  } finally {
    stream.uncork();
  }
}

/** So long at most do data wait for robots that are found one after the other, as when the gateway starts. */
const LONGEST_SETTLING_MS = 5_000;
/** No device was born for so long: the last one was found. */
const QUIET_MS = 500;

/** After the first birth on a connection, data wait until the robots of the fleet are found and born. */
function createSettling(plant: Plant, clock: Pick<Clock, "monotonicMs">) {
  let beganMs: number | null = null;
  let foundMs: number | null = null;
  let isOver = false;
  return {
    /** The node is born. */
    begin(): void {
      beganMs ??= clock.monotonicMs();
    },
    /** One more device is born. */
    found(): void {
      foundMs = clock.monotonicMs();
    },
    isOver(): boolean {
      if (isOver || beganMs === null) return isOver;
      const nowMs = clock.monotonicMs();
      const isQuiet = foundMs === null || nowMs - foundMs >= QUIET_MS;
      isOver = (isQuiet && !plant.isIncomplete()) || nowMs - beganMs >= LONGEST_SETTLING_MS;
      return isOver;
    },
  };
}
