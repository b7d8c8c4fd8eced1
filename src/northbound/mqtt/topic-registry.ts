import type { TagFacts, TagGroup, TagReading, TagSource, TagView } from "../../contracts/tags.ts";
import type { StateChange } from "../../domain/change.ts";
import { type Quality, type Stamp, sourceTimeOf } from "../../domain/observed.ts";
import type { RobotId } from "../../domain/robot.ts";
import type { Clock } from "../../platform/clock.ts";
import { topicTexts } from "./topic-templates.ts";
import type { Topics } from "./topics.ts";

/** The retained topics as this connection has published them, for those who look at all of them. */
export interface TopicRegistry extends TagSource {
  /** A connection begins: at its broker nothing is known to be published yet. */
  begin(): void;
  /** What is published from now on says this; null: something of the gateway's own. */
  about(change: StateChange | null): void;
  /** Published now; an empty payload takes the topic away. */
  note(topic: string, payload: string): void;
}

/** What a value says of itself; of the gateway's own findings nothing. */
interface Origin {
  readonly quality: Quality;
  readonly stamp: Stamp | null;
}

const own: Origin = { quality: "good", stamp: null };
const OF_GATEWAY = "";

/** @param isConnected whether there is a connection to a broker now */
export function createTopicRegistry(
  topics: Pick<Topics, "robot" | "describedAs">,
  isConnected: () => boolean,
  clock: Pick<Clock, "nowMs">,
): TopicRegistry {
  const groups = new Map<string, Group>();
  const known = new Map<string, Topic>();
  /** The groups of topics that are published apart from the change that they follow from. */
  const owners = new Map<string, Group>();
  let group: Group | null = null;
  let origin = own;
  /** What is published from now on comes of this. */
  let source: StateChange | null = null;

  function groupOf(key: string, robotId: RobotId | null, station: string | null): Group {
    let found = groups.get(key);
    if (found === undefined) {
      found = createGroup(robotId, station);
      groups.set(key, found);
      if (robotId !== null) owners.set(topics.robot(robotId).info, found);
    }
    return found;
  }

  return {
    protocol: "mqtt",
    prefix: "",
    missingRobots: () => 0,
    subjectOf: ({ name }) => known.get(name)?.subject ?? null,
    groups: () => [...groups.values()].filter(({ size }) => size > 0),
    begin() {
      for (const all of [groups, known, owners]) all.clear();
      group = null;
    },
    about(change) {
      source = change;
      if (change === null) [group, origin] = [null, own];
      else {
        if ("robotId" in change) group = groupOf(`robot ${change.robotId}`, change.robotId, null);
        else if ("station" in change) group = groupOf(`station ${change.station}`, null, change.station);
        else group = null;
        origin = "observed" in change ? change.observed : own;
      }
    },
    note(topic, payload) {
      const before = known.get(topic);
      if (payload === "") {
        before?.remove();
        known.delete(topic);
        return;
      }
      const atMs = clock.nowMs();
      // Outside of a change only an age grows, and what it is of stays what it is.
      if (before !== undefined) before.publish(payload, atMs, group === null ? before.origin : origin);
      else {
        const owner = group ?? owners.get(topic) ?? groupOf(OF_GATEWAY, null, null);
        known.set(
          topic,
          owner.add(
            new Topic(topic, owner, topics, source && subjectOf(source), isConnected, payload, atMs, origin),
          ),
        );
      }
    },
  };
}

/** In the words that all protocols share. */
function subjectOf(change: StateChange): string {
  if (change.kind === "conveyor") return `conveyor/${change.observed.value.index}`;
  return change.kind.endsWith("alarms") ? "alarms" : change.kind;
}

interface Group extends TagGroup {
  readonly size: number;
  add(topic: Topic): Topic;
  remove(topic: Topic): void;
}

function createGroup(robotId: RobotId | null, station: string | null): Group {
  let list: Topic[] = [];
  let isSorted = true;
  return {
    robotId,
    station,
    get size() {
      return list.length;
    },
    add(topic) {
      list.push(topic);
      isSorted = false;
      return topic;
    },
    // Not in place: somebody may be looking at the list.
    remove(topic) {
      list = list.filter((each) => each !== topic);
    },
    tags(): readonly TagView[] {
      if (!isSorted) list = list.toSorted((a, b) => (a.name < b.name ? -1 : 1));
      isSorted = true;
      return list;
    },
  };
}

/** A class: a plant has some ten thousand of them, and closures would be objects more. */
class Topic implements TagView {
  readonly name: string;
  readonly subject: string | null;
  readonly #group: Group;
  readonly #topics: Pick<Topics, "describedAs">;
  readonly #isConnected: () => boolean;
  #payload: string;
  #atMs: number;
  origin: Origin;

  constructor(
    name: string,
    group: Group,
    topics: Pick<Topics, "describedAs">,
    subject: string | null,
    isConnected: () => boolean,
    payload: string,
    atMs: number,
    origin: Origin,
  ) {
    this.name = name;
    this.subject = subject;
    this.#group = group;
    this.#topics = topics;
    this.#isConnected = isConnected;
    this.#payload = payload;
    this.#atMs = atMs;
    this.origin = origin;
  }

  publish(payload: string, atMs: number, origin: Origin): void {
    this.#payload = payload;
    this.#atMs = atMs;
    this.origin = origin;
  }

  remove(): void {
    this.#group.remove(this);
  }

  facts(): TagFacts {
    const name = this.#topics.describedAs(this.name);
    return { description: name && topicTexts[name], unit: null, meaning: null };
  }

  read(): TagReading {
    const { quality, stamp } = this.origin;
    return {
      value: this.#payload,
      type: /^[[{]/.test(this.#payload) ? "JSON" : "text",
      quality: this.#isConnected() || (quality !== "good" && quality !== "stale") ? quality : "offline",
      status: null,
      sourceTimeMs: stamp === undefined || stamp === null ? null : sourceTimeOf(stamp),
      receivedAtMs: stamp?.receivedAtMs ?? this.#atMs,
    };
  }
}
