import { hash } from "node:crypto";
import { isJsonObject } from "../../platform/json.ts";
import { createKeptFile, readNowIfThere } from "../../platform/kept-file.ts";
import { describeError, type Log } from "../../platform/log.ts";
import { createTurns } from "../../platform/turns.ts";
import { type TopicsMove, topicRules } from "./live-topics.ts";
import type { MqttOptions } from "./options.ts";

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

/** Where the record is kept, as text. */
export interface TopicsFile {
  /** Undefined: there is none. Throws when it cannot be read. */
  read(): string | undefined;
  write(text: string): Promise<void>;
}

interface Kept {
  readonly broker: string;
  readonly rules: string;
  readonly chains: string;
  readonly sessions: readonly string[];
  readonly topics: ReadonlyMap<string, string>;
}

const MOST_TOPICS = 1_000_000;
const MOST_SESSIONS = 64;
const NAME_DIGITS = 16;

export interface PublishedTopicsParts {
  readonly options: Pick<MqttOptions, "broker" | "base" | "placement">;
  readonly chainFilter: string;
  readonly sessionId: string;
  readonly file: TopicsFile;
  readonly log: Log;
}

/** The file of a name, of the first broker and of each fallback. */
export type TopicsFiles = (name: string) => TopicsFile;

/** The record of each broker. */
export interface TopicRecords {
  /** Null at the gateway's own broker, unless topics have moved. */
  of(options: MqttOptions, isFirst: boolean): PublishedTopics | null;
  /** A reload has moved topics. `retained`: what the gateway's own broker retains. */
  move(move: TopicsMove, retained: () => Promise<readonly string[]>): Promise<void>;
}

/**
 * The records of what this gateway has published at each of its brokers. That of a broker is read when it is
 * connected to for the first time.
 *
 * @param topicsFiles null if the broker forgets topics with the gateway
 */
export function createTopicRecords(
  topicsFiles: TopicsFiles | null,
  chainFilter: string,
  sessionId: string,
  log: Log,
): TopicRecords {
  const records = new Map<string, PublishedTopics>();
  let own: PublishedTopics | null = null;
  const of: TopicRecords["of"] = (options, isFirst) => {
    if (topicsFiles === null) return own;
    // A URL may have what no file name may.
    const name = isFirst
      ? "topics.json"
      : `topics-${hash("sha256", urlOf(options)).slice(0, NAME_DIGITS)}.json`;
    const file = topicsFiles(name);
    const record = records.get(name) ?? openPublishedTopics({ options, chainFilter, sessionId, file, log });
    records.set(name, record);
    return record;
  };
  return {
    of,
    async move({ isMoved, left }, retained) {
      if (topicsFiles === null) own = isMoved ? createOwnRecord(await retained()) : own;
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

export function openTopicsFile(path: string): TopicsFile {
  const file = createKeptFile(path, { isSynced: false });
  return { read: () => readNowIfThere(path), write: file.write };
}

/** Opens the record. One that cannot be read begins empty, and one of another broker too. */
export function openPublishedTopics(parts: PublishedTopicsParts): PublishedTopics {
  const { options, chainFilter, sessionId, file, log } = parts;
  const broker = urlOf(options);
  const rules = () => topicRules(options);
  const before = readKept(file, log);
  const isSame = before?.broker === broker;
  const topics = new Map<string, string>(isSame ? before.topics : []);
  const left = new Map(topics);
  const sessions = [...(isSame ? before.sessions : []).slice(1 - MOST_SESSIONS), sessionId];
  const known = new Set(sessions);
  let hasNews = true;
  let isFailing = false;
  let isMoved = isSame && before.rules !== rules();
  const movedChains = isSame && before.chains !== chainFilter ? before.chains : null;

  return {
    left,
    get isMoved() {
      return isMoved;
    },
    movedChains,
    isOwnBroker: false,
    move(areMoved, gone) {
      hasNews = true;
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
      hasNews = true;
    },
    forget(topic) {
      left.delete(topic);
      if (topics.delete(topic)) hasNews = true;
    },
    skip: (topic) => void left.delete(topic),
    isOurs: (session) => known.has(session),
    async keep() {
      if (!hasNews) return;
      hasNews = false;
      try {
        await file.write(await textOf({ broker, rules: rules(), chains: chainFilter, sessions, topics }));
        isFailing = false;
      } catch (error) {
        hasNews = true;
        if (!isFailing)
          log.warn(
            { cause: describeError(error) },
            "the record of published topics is not kept: a later run may not clear what this one leaves",
          );
        isFailing = true;
      }
    },
  };
}

/**
 * Topics are grouped by their marks. In turns: 5,000 robots with flat topics have 185,000, which take a
 * quarter of a second.
 */
async function textOf({ broker, rules, chains, sessions, topics }: Kept): Promise<string> {
  const turns = createTurns();
  const marks = new Map<string, string[]>();
  for (const [topic, mark] of topics) {
    const group = marks.get(mark);
    if (group === undefined) marks.set(mark, [topic]);
    else group.push(topic);
    const turn = turns.next();
    if (turn !== undefined) await turn;
  }
  const groups: string[] = [];
  for (const [mark, group] of marks) {
    groups.push(`${JSON.stringify(mark)}:${JSON.stringify(group)}`);
    const turn = turns.next();
    if (turn !== undefined) await turn;
  }
  const head = JSON.stringify({ broker, rules, chains, sessions });
  return `${head.slice(0, -1)},"topics":{${groups.join(",")}}}`;
}

function readKept(file: TopicsFile, log: Log): Kept | null {
  try {
    const text = file.read();
    if (text === undefined) return null;
    const kept: unknown = JSON.parse(text);
    if (!isJsonObject(kept)) throw new Error("it is no object");
    const { broker, rules, chains, sessions, topics } = kept;
    if (typeof broker !== "string" || typeof rules !== "string" || typeof chains !== "string")
      throw new Error("it does not name the broker and the rules of the topics");
    if (!isTextList(sessions) || !isJsonObject(topics)) throw new Error("it has no sessions or no topics");
    const marks = Object.entries(topics).flatMap(([mark, group]) =>
      isTextList(group) ? group.map((topic) => [topic, mark] as const) : [],
    );
    return { broker, rules, chains, sessions, topics: new Map(marks) };
  } catch (error) {
    log.warn(
      { cause: describeError(error) },
      "the record of published topics cannot be read: what earlier runs left at the broker stays there",
    );
    return null;
  }
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}
