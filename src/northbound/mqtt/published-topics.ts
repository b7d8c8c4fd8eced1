import { hash } from "node:crypto";
import { isJsonObject } from "../../platform/json.ts";
import { createTimeSlices } from "../../platform/loop-time.ts";
import type { Codec } from "../../platform/stores/table-store.ts";
import type { WriteBehind } from "../../platform/stores/write-behind.ts";
import type { MqttOptions } from "./options.ts";
import { type TopicsMove, topicRules } from "./topics.ts";

/**
 * The retained topics that this gateway has published, over its runs: what it does not publish any more can
 * be cleared, also where the configuration has moved its topics. Each topic has a mark, a topic whose JSON
 * names the session that has published it.
 */
export interface PublishedTopics {
  /** Published now. Without a mark its own JSON names the session. */
  note(topic: string, mark?: string): void;
  /** The topics of earlier runs that this one has not published, with their marks. */
  readonly left: ReadonlyMap<string, string>;
  /** It is retained no more, or not ours. */
  forget(topic: string): void;
  /** It is left to a later run. */
  skip(topic: string): void;
  /** This run, and those before it. */
  isOurs(sessionId: string): boolean;
  /** Whether the topics of earlier runs, or of before a reload, were made by other rules than today's. */
  readonly isMoved: boolean;
  /** Whether nobody else publishes at the broker what is left. */
  readonly isOwnBroker: boolean;
  /** A reload has moved the topics, or has left these: what is not published again is to be cleared. */
  move(isMoved: boolean, left: readonly string[]): void;
  /** The filter of the task chains of earlier runs; null: today's, or unknown. */
  readonly movedChains: string | null;
  /** Keeps what is new. Never rejects. */
  keep(): Promise<void>;
}

/** The record of a broker, without its topics. */
interface KeptBroker {
  /** The rules of the topics, and the filter of the task chains. */
  readonly rules: string;
  readonly chains: string;
  readonly sessions: readonly string[];
}

/** The topics with one mark. */
interface KeptTopics {
  readonly mark: string;
  readonly topics: readonly string[];
}

const MOST_TOPICS = 1_000_000;
const MOST_SESSIONS = 64;
const MARKS_A_WRITE = 500;
const NAME_DIGITS = 16;

/** The name of a broker in keys: a URL may be longer than a key. */
function brokerKey(url: string): string {
  return hash("sha256", url).slice(0, NAME_DIGITS);
}

/** The key of the topics with one mark: a topic may be longer than a key. */
function topicsKey(broker: string, mark: string): string {
  return `${broker}/${hash("sha256", mark, "base64url")}`;
}

export interface PublishedTopicsParts {
  readonly options: Pick<MqttOptions, "broker" | "base" | "placement">;
  readonly chainFilter: string;
  readonly sessionId: string;
  readonly tables: WriteBehind;
}

/** The record of each broker. */
export interface TopicRecords {
  /** Null at the gateway's own broker, unless topics have moved. */
  of(options: MqttOptions): PublishedTopics | null;
  /** A reload has moved topics. `retained`: what the gateway's own broker retains. */
  move(move: TopicsMove, retained: () => Promise<readonly string[]>): Promise<void>;
}

/**
 * The records of what this gateway has published at each of its brokers. That of a broker is read when it is
 * connected to for the first time.
 *
 * @param tables null if the broker forgets topics with the gateway
 */
export function createTopicRecords(
  tables: WriteBehind | null,
  chainFilter: string,
  sessionId: string,
): TopicRecords {
  const records = new Map<string, PublishedTopics>();
  let own: PublishedTopics | null = null;
  return {
    of(options) {
      if (tables === null) return own;
      const url = urlOf(options);
      const record = records.get(url) ?? openPublishedTopics({ options, chainFilter, sessionId, tables });
      records.set(url, record);
      return record;
    },
    async move({ isMoved, left }, retained) {
      if (tables === null) own = isMoved ? createOwnRecord(await retained()) : own;
      for (const record of records.values()) record.move(isMoved, left);
    },
  };
}

/** What the gateway's own broker retains when topics move. */
function createOwnRecord(retained: readonly string[]): PublishedTopics {
  const left = new Map(retained.map((topic) => [topic, topic]));
  return {
    left,
    note: (topic) => void left.delete(topic),
    forget: (topic) => void left.delete(topic),
    skip: (topic) => void left.delete(topic),
    isOurs: () => true,
    isMoved: true,
    isOwnBroker: true,
    movedChains: null,
    move() {},
    keep: () => Promise.resolve(),
  };
}

function urlOf({ broker }: Pick<MqttOptions, "broker">): string {
  return broker.kind === "external" ? broker.url : "";
}

/** Whether topics of earlier runs are known. */
export function hasPublishedTopics(tables: Pick<WriteBehind, "table">): boolean {
  return [...tables.table(BROKERS, brokerCodec, "begin empty").entries()].length > 0;
}

/** Opens the record of the broker in `options`. Without a record of the broker its topics are not known. */
export function openPublishedTopics(parts: PublishedTopicsParts): PublishedTopics {
  const { options, chainFilter, sessionId, tables } = parts;
  const brokers = tables.table(BROKERS, brokerCodec, "begin empty");
  const groups = tables.table(TOPICS, topicsCodec, "begin empty");
  const name = brokerKey(urlOf(options));
  const rules = () => topicRules(options);
  const before = brokers.get(name);
  const topics = new Map<string, string>();
  for (const [key, group] of groups.entries()) {
    if (!key.startsWith(`${name}/`)) continue;
    if (before === undefined) tables.keep([groups.remove(key)]);
    else for (const topic of group.topics) topics.set(topic, group.mark);
  }
  const left = new Map(topics);
  const sessions = [...(before?.sessions ?? []).slice(1 - MOST_SESSIONS), sessionId];
  const known = new Set(sessions);
  let isBrokerNew = true;
  /** Marks whose topics are others than those that are kept. */
  let changed = new Set<string>();
  let isMoved = before !== undefined && before.rules !== rules();
  const movedChains = before === undefined || before.chains === chainFilter ? null : before.chains;

  /** In time slices: 5,000 robots with flat topics have 185,000. */
  async function topicsOf(marks: ReadonlySet<string>): Promise<ReadonlyMap<string, readonly string[]>> {
    const slices = createTimeSlices();
    const found = new Map<string, string[]>();
    for (const [topic, mark] of topics) {
      if (!marks.has(mark)) continue;
      const group = found.get(mark);
      if (group === undefined) found.set(mark, [topic]);
      else group.push(topic);
      const slice = slices.next();
      if (slice !== undefined) await slice;
    }
    return found;
  }

  async function keepTopics(): Promise<void> {
    const marks = [...changed];
    changed = new Set();
    const found = await topicsOf(new Set(marks));
    while (marks.length > 0) {
      const some = marks.splice(0, MARKS_A_WRITE);
      tables.keep(
        some.map((mark) => {
          const key = topicsKey(name, mark);
          const group = found.get(mark);
          return group === undefined ? groups.remove(key) : groups.put(key, { mark, topics: group });
        }),
      );
      if (!(await tables.flushed())) break;
    }
    for (const mark of marks) changed.add(mark);
  }

  return {
    left,
    get isMoved() {
      return isMoved;
    },
    movedChains,
    isOwnBroker: false,
    move(areMoved, gone) {
      isBrokerNew = true;
      const names = areMoved ? topics.keys() : gone;
      for (const topic of names) {
        const mark = topics.get(topic);
        if (mark !== undefined) left.set(topic, mark);
      }
      isMoved ||= areMoved;
    },
    note(topic, mark = topic) {
      if (left.size > 0) left.delete(topic);
      if (topics.has(topic) || topics.size >= MOST_TOPICS) return;
      topics.set(topic, mark);
      changed.add(mark);
    },
    forget(topic) {
      left.delete(topic);
      const mark = topics.get(topic);
      if (mark === undefined) return;
      topics.delete(topic);
      changed.add(mark);
    },
    skip: (topic) => void left.delete(topic),
    isOurs: (session) => known.has(session),
    async keep() {
      if (isBrokerNew) tables.keep([brokers.put(name, { rules: rules(), chains: chainFilter, sessions })]);
      isBrokerNew = false;
      if (changed.size > 0) await keepTopics();
      else await tables.flushed();
    },
  };
}

const BROKERS = "brokers";
const TOPICS = "published-topics";

const brokerCodec: Codec<KeptBroker> = {
  encode: (broker) => broker,
  decode(json) {
    if (!isJsonObject(json)) return null;
    const { rules, chains, sessions } = json;
    if (typeof rules !== "string" || typeof chains !== "string" || !isTextList(sessions)) return null;
    return { rules, chains, sessions };
  },
};

const topicsCodec: Codec<KeptTopics> = {
  encode: (group) => group,
  decode(json) {
    if (!isJsonObject(json) || typeof json.mark !== "string" || !isTextList(json.topics)) return null;
    return { mark: json.mark, topics: json.topics };
  },
};

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}
