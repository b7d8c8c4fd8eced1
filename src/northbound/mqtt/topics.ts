import type { FleetEvent } from "../../domain/event.ts";
import type { RobotId } from "../../domain/robot.ts";
import type { Now } from "../../platform/live.ts";
import type { MqttOptions } from "./options.ts";
import { topicProblems } from "./topic-checks.ts";
import {
  clientsSubtree,
  createRobotLevels,
  describedTopics,
  encodeLevel,
  type Placement,
  type TopicName,
  underBase,
  wholeTemplate,
} from "./topic-templates.ts";

type EventKind = FleetEvent["kind"];

/** A robot's topics, made once. */
export interface RobotTopics {
  readonly info: string;
  readonly availability: string;
  readonly mission: string;
  readonly battery: string;
  readonly presence: string;
  readonly hold: string;
  readonly alarms: string;
  conveyor(index: number): string;
  event(kind: EventKind): string;
  /** A flat topic; `name` may have levels. */
  tag(name: string): string;
}

/** What a command topic says. The client's name is as the broker checked it: never decoded. */
export interface CommandTopic {
  readonly client: string;
  readonly operation: string;
}

/** Every topic of one gateway. */
export interface Topics {
  readonly status: string;
  readonly health: string;
  /** The status of a member of the cluster. */
  member(name: string): string;
  /** The list of all robots. */
  readonly robots: string;
  /** What holds all robots. */
  readonly holdAll: string;
  /** All alarms that stand. */
  readonly alarms: string;
  /** What a station shows. */
  station(name: string): string;
  /** Its alarms. */
  stationAlarms(name: string): string;
  /** The subscription that receives every client's commands and acts. */
  readonly commandFilter: string;
  robot(robotId: RobotId): RobotTopics;
  /** What happened, but to no single robot. */
  gatewayEvent(kind: EventKind): string;
  taskChain(chainId: number): string;
  map(mapId: number): string;
  /** The subscriptions that hear every event: of robots, and of no single one. */
  readonly eventFilters: readonly [string, string];
  /** The subscription that receives every task chain. */
  readonly taskChainFilter: string;
  /** The chain that a topic is of; null for a topic that is of none. */
  readTaskChain(topic: string): number | null;
  readCommand(topic: string): CommandTopic | null;
  /** Which of the described topics it is; null: none of them. */
  describedAs(topic: string): (typeof describedTopics)[number] | null;
  reply(client: string, id: string): string;
  /** The client whose own a topic is, or null for one that everybody may read. */
  ownerOf(topic: string): string | null;
  /** Whether the gateway receives what clients publish on `topic`. */
  isRead(topic: string): boolean;
  /**
   * Whether a client may be answered on `topic`: its own, no wildcard, and none that the gateway receives.
   */
  mayAnswerOn(client: string, topic: string): boolean;
}

/**
 * The topics under `base`, or where the placement puts them; cached for each robot.
 * Throws when base or placement cannot work (see `topicProblems`).
 */
export function createTopics(base: string, placement: Placement = underBase): Topics {
  const problems = topicProblems(base, placement, true);
  if (problems.length > 0)
    throw new Error(`MQTT topics: ${problems.map(({ message }) => message).join("; ")}`);
  const under = (name: TopicName) => wholeTemplate(base, name, placement);
  const levelOf = createRobotLevels(placement);
  const places = new Map(placement.stations.map(({ name, place }) => [name, place ?? ""]));
  const robots = new Map<RobotId, RobotTopics>();
  const own = `${clientsSubtree(base)}/`;
  const commandLevels = levelReader(under("command"));
  const taskChainLevels = levelReader(under("taskChain"));
  const described = describedTopics.map((name) => ({ name, levelsOf: levelReader(under(name)) }));

  const readCommand = (topic: string): CommandTopic | null => {
    const { client, operation } = commandLevels(topic) ?? {};
    return client && operation ? { client, operation } : null;
  };

  const ofStation = (topic: TopicName, name: string) =>
    fill(fill(under(topic), "place", places.get(name) ?? ""), "station", encodeLevel(name));

  const isRead = (topic: string) => readCommand(topic) !== null;

  return {
    status: under("status"),
    health: under("health"),
    member: (name) => fill(under("member"), "member", name),
    robots: under("robots"),
    holdAll: under("holdAll"),
    alarms: under("alarms"),
    station: (name) => ofStation("stationState", name),
    stationAlarms: (name) => ofStation("stationAlarms", name),
    commandFilter: filterOf(under("command")),
    robot(robotId) {
      let topics = robots.get(robotId);
      if (topics === undefined) {
        topics = robotTopics(under, levelOf(robotId));
        robots.set(robotId, topics);
      }
      return topics;
    },
    gatewayEvent: (kind) => fill(under("gatewayEvent"), "kind", kind),
    taskChain: (chainId) => under("taskChain").replace("{chain}", String(chainId)),
    map: (mapId) => fill(under("map"), "map", String(mapId)),
    eventFilters: [filterOf(under("event")), filterOf(under("gatewayEvent"))],
    taskChainFilter: filterOf(under("taskChain")),
    readTaskChain(topic) {
      const { chain = "" } = taskChainLevels(topic) ?? {};
      return /^[1-9]\d*$/.test(chain) ? Number(chain) : null;
    },
    readCommand,
    describedAs: (topic) => described.find(({ levelsOf }) => levelsOf(topic) !== null)?.name ?? null,
    isRead,
    reply: (client, id) => fill(fill(under("reply"), "client", client), "id", encodeLevel(id)),
    ownerOf(topic) {
      if (!topic.startsWith(own)) return null;
      const end = topic.indexOf("/", own.length);
      return end === -1 ? topic.slice(own.length) : topic.slice(own.length, end);
    },
    mayAnswerOn: (client, topic) =>
      topic.startsWith(`${own}${client}/`) && !/[#+\0]/.test(topic) && !isRead(topic),
  };
}

function robotTopics(under: (name: TopicName) => string, robot: string): RobotTopics {
  const of = (name: TopicName) => fill(fill(under(name), "robot", robot), "alias", robot);
  const conveyors = new Map<number, string>();
  const tags = new Map<string, string>();
  return {
    info: of("info"),
    availability: of("availability"),
    mission: of("mission"),
    battery: of("battery"),
    presence: of("presence"),
    hold: of("hold"),
    alarms: of("robotAlarms"),
    conveyor: (index) => cached(conveyors, index, () => fill(of("conveyor"), "index", String(index))),
    event: (kind) => fill(of("event"), "kind", kind),
    tag: (name) => cached(tags, name, () => fill(of("tag"), "tag", name)),
  };
}

/** A function as replacement, because an id may hold what replace() takes for a pattern ($&). */
function fill(template: string, name: string, value: string): string {
  return template.replace(`{${name}}`, () => value);
}

function cached<K>(values: Map<K, string>, key: K, make: () => string): string {
  const known = values.get(key);
  if (known !== undefined) return known;
  const made = make();
  values.set(key, made);
  return made;
}

function filterOf(template: string): string {
  return template.replace(/\{\w+\}/g, "+");
}

/** Reads topics of a template: the levels by their names, or null for a topic that is not of it. */
function levelReader(template: string): (topic: string) => Readonly<Record<string, string>> | null {
  const wanted = template.split("/").map((level) => ({ level, name: /^\{(\w+)\}$/.exec(level)?.[1] }));
  return (topic) => {
    const levels = topic.split("/");
    if (levels.length !== wanted.length) return null;
    const read: Record<string, string> = {};
    for (const [index, { level, name }] of wanted.entries()) {
      const given = levels[index] ?? "";
      if (name !== undefined) read[name] = given;
      else if (given !== level) return null;
    }
    return read;
  };
}

type TopicOptions = Pick<MqttOptions, "base" | "placement">;
type TopicValues = Now<TopicOptions>;

/** What another configuration does to the topics of the gateway. */
export interface TopicsMove {
  /** Topics that are in use have moved. */
  readonly isMoved: boolean;
  /** The topics of stations that are gone. */
  readonly left: readonly string[];
}

/** Topics that follow the configuration. */
export interface LiveTopics {
  /** Those of this moment: no part of it is to be kept. */
  readonly topics: Topics;
  /** To be called when the configuration may have others. */
  follow(): TopicsMove;
}

/** @param options whose placement a reload changes */
export function createLiveTopics(options: TopicOptions): LiveTopics {
  let known = valuesOf(options);
  let now = make(known);
  const topics = {} as Topics;
  for (const name of Object.keys(now) as (keyof Topics)[]) {
    Object.defineProperty(topics, name, { enumerable: true, get: () => now[name] });
  }
  return {
    topics,
    follow() {
      const [before, was] = [known, now];
      known = valuesOf(options);
      if (rulesOf(before) === rulesOf(known)) return { isMoved: false, left: [] };
      now = make(known);
      const names = new Set(known.placement.stations.map(({ name }) => name));
      const gone = before.placement.stations.filter(({ name }) => !names.has(name));
      return {
        isMoved: usedRules(before, known) !== usedRules(known, before),
        left: gone.flatMap(({ name }) => [was.station(name), was.stationAlarms(name)]),
      };
    },
  };
}

/** All that decides on topics now, as a text. */
export function topicRules(options: TopicOptions): string {
  return rulesOf(valuesOf(options));
}

function valuesOf({ base, placement }: TopicOptions): TopicValues {
  return { base, placement: placement.now() };
}

function rulesOf({ base, placement }: TopicValues): string {
  const { robot, station, stations } = placement;
  return JSON.stringify([base, robot, station, stations, aliasesOf(placement)]);
}

function make({ base, placement }: TopicValues): Topics {
  return createTopics(base, placement);
}

/** What decides on the topics of robots and stations that both have. */
function usedRules(options: TopicValues, other: TopicValues): string {
  const names = new Set(other.placement.stations.map(({ name }) => name));
  const stations = options.placement.stations.filter(({ name }) => names.has(name));
  const ids = new Set(other.placement.robots.map(({ robotId }) => robotId));
  const robots = options.placement.robots.filter(({ robotId }) => ids.has(robotId));
  const places = options.placement.station?.includes("{place}") === true ? stations : [];
  return rulesOf({ ...options, placement: { ...options.placement, stations: places, robots } });
}

/** Only where they are in topics. */
function aliasesOf({ robot, robots }: TopicValues["placement"]) {
  return robot?.includes("{alias}") === true ? robots.filter(({ alias }) => alias !== null) : [];
}
