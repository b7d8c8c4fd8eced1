import type { Clock } from "../../../platform/clock.ts";
import { createTimeSlices } from "../../../platform/loop-time.ts";
import { type Loss, within } from "../client/client.ts";
import type { LimitedClient } from "../client/limited-client.ts";
import type { Device } from "./device.ts";
import { encodePayload, type Sample } from "./payload.ts";
import type { Plant } from "./plant.ts";
import {
  createDataPackets,
  createPublisher,
  type DataPackets,
  type Past,
  type SessionParts,
} from "./publisher.ts";
import type { SparkplugCounts } from "./report.ts";
import type { SparkplugTopics } from "./topics.ts";

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
  /** Whether values of the past may leave: after all births. */
  takesHistory(): boolean;
  /** Values of the past, of one device. Those of a device that is not born wait for its birth. */
  history(device: Device, samples: readonly Sample[]): void;
  /** Resolves when the broker reads on; undefined: it does. Rejects when the connection is lost. */
  drained(): Promise<void> | undefined;
  /** Nothing is published any more: the death comes next. */
  end(): void;
}

/** Beyond it, the oldest of those that wait for a birth are dropped. */
const MOST_HELD = 1_000;

export function createSession(parts: SessionParts): SparkplugSession {
  const { client, plant, loss, counts, clock } = parts;
  /** The devices that are born, each with the topic of its data. */
  const born = new Map<Device, Buffer>();
  const packets = createDataPackets(client);
  const publisher = createPublisher(parts, packets);
  const held = createHeld(counts);
  let isBorn = false;
  let isBirthDue = false;
  let isOver = false;
  const settling = createSettling(plant, clock);

  function bear(device: Device): void {
    born.set(device, publisher.topicOf("DDATA", device));
    publisher.deviceBirth(device);
  }

  function bury(device: Device): void {
    if (born.delete(device)) publisher.deviceDeath(device);
  }

  function isToBearOrBury(device: Device, isAlive: () => boolean): boolean {
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
    if (topic !== undefined) publisher.data(topic, device);
  }

  function sayNode(): void {
    if (isBirthDue || isOver) return;
    publisher.nodeData();
    packets.flush();
  }

  const drained = () => drainOf(client, loss);
  const each = <T>(all: Iterable<T>, act: (one: T) => void) =>
    inSlices({ packets, loss, drained }, all, act, () => isBirthDue || isOver);

  return {
    isBorn: () => isBorn && !isOver,
    bornAtMs: publisher.bornAtMs,
    isBirthDue: () => isBirthDue && !isOver,
    end() {
      isOver = true;
    },
    stopData() {
      isBirthDue = true;
    },
    async birth() {
      await drained();
      if (isOver) return;
      isBirthDue = false;
      settling.begin();
      const alive = new Set(plant.alive());
      // A birth of the node without those of its devices would end at once, with a death.
      publisher.requireRoom(alive);
      // A host would go on showing what is born no more as it was.
      for (const device of born.keys()) if (!alive.has(device)) bury(device);
      born.clear();
      publisher.nodeBirth();
      isBorn = true;
      await each([...alive], bear);
    },
    async flush() {
      const draining = drained();
      if (draining !== undefined) await draining;
      if (isBirthDue || isOver) return;
      const touched = plant.takeTouched();
      for (const [device, isAlive] of touched)
        if (isToBearOrBury(device, isAlive)) {
          await each(touched, bearOrBury);
          break;
        }
      if (isBirthDue || isOver) return;
      if (!settling.isOver()) return plant.touchAgain(touched);
      sayNode();
      await each(touched.keys(), sayChanged);
      const due = held.take(born);
      if (due.length > 0) await each(due, publisher.past);
    },
    sayNode,
    drained,
    takesHistory: () => isBorn && !isOver && !isBirthDue && settling.isOver(),
    history(device, samples) {
      if (samples.length === 0) return;
      if (!born.has(device)) return held.keep({ device, samples });
      publisher.past({ device, samples });
      packets.flush();
    },
  };
}

/** What waits for the births of its devices. */
function createHeld(counts: Pick<SparkplugCounts, "historicalDropped">) {
  let held: Past[] = [];
  return {
    keep(past: Past): void {
      held.push(past);
      if (held.length <= MOST_HELD) return;
      counts.historicalDropped += held.shift()?.samples.length ?? 0;
    },
    /** What waits no more, for its device is born. */
    take(born: ReadonlyMap<Device, unknown>): readonly Past[] {
      const due = held.filter(({ device }) => born.has(device));
      if (due.length > 0) held = held.filter(({ device }) => !born.has(device));
      return due;
    },
  };
}

/** Resolves when the broker has read what waits for it; undefined: nothing does. */
function drainOf({ stream }: Pick<LimitedClient, "stream">, loss: Loss): Promise<void> | undefined {
  return stream.writableNeedDrain ? loss.orElse((done) => stream.once("drain", () => done())) : undefined;
}

/** So many bytes leave in one piece. */
const PIECE_BYTES = 16 * 1024;

interface Pace {
  readonly packets: DataPackets;
  readonly loss: Loss;
  readonly drained: () => Promise<void> | undefined;
}

/** In time slices, and no faster than the broker reads, until `isEnded`. */
async function inSlices<T>(
  { packets, loss, drained }: Pace,
  all: Iterable<T>,
  act: (one: T) => void,
  isEnded: () => boolean,
): Promise<void> {
  const slices = createTimeSlices();
  try {
    for (const one of all) {
      const cause = loss.cause();
      if (cause !== null) throw cause;
      if (isEnded()) return;
      act(one);
      const pause = slices.next();
      if (pause === undefined && packets.length < PIECE_BYTES) continue;
      packets.flush();
      await pause;
      await drained();
    }
  } finally {
    packets.flush();
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

/** The death of the node: it has no sequence number, and the number of the connection by name. */
export function deathPayload(bdSeq: number, atMs: number): Buffer {
  const sample: Sample = {
    model: { name: "bdSeq", type: "Int64" },
    ...{ alias: null, value: bdSeq, quality: "good", atMs },
  };
  return encodePayload({ atMs, seq: null, samples: [sample], isBirth: false });
}

const DEATH_MS = 2_000;

/** Ends the connection with exactly one death: with MQTT 5 the broker publishes the last will. */
export async function endSession(
  client: LimitedClient,
  topics: SparkplugTopics,
  death: Buffer,
  protocolVersion: 4 | 5,
  clock: Clock,
): Promise<void> {
  if (protocolVersion === 4) {
    const published = new Promise<void>((resolve, reject) => {
      client.publish(topics.node("NDEATH"), death, { qos: 1, retain: false }, (error) =>
        error ? reject(error) : resolve(),
      );
    });
    // Otherwise the broker publishes the last will, which says the same.
    if (!(await within(clock, DEATH_MS, published))) return void client.end(true);
  }
  const options = protocolVersion === 5 ? { reasonCode: DISCONNECT_WITH_WILL } : {};
  const ended = new Promise<void>((resolve) => client.end(false, options, () => resolve()));
  if (!(await within(clock, DEATH_MS, ended))) client.stream.destroy();
}

/** MQTT 5, Disconnect: with Will Message. */
const DISCONNECT_WITH_WILL = 0x04;
