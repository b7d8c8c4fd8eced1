import type { TagText } from "../../contracts/tags.ts";
import type { RobotId } from "../../domain/robot.ts";

/** The topics, under the base if no placement moves them. `{…}` is a whole level, and filled in. */
export const topicTemplates = {
  status: "status",
  health: "health",
  member: "members/{member}/status",
  robots: "robots",
  info: "robots/{robot}/info",
  availability: "robots/{robot}/availability",
  mission: "robots/{robot}/mission",
  battery: "robots/{robot}/battery",
  conveyor: "robots/{robot}/conveyors/{index}",
  presence: "robots/{robot}/presence",
  taskChain: "task_chains/{chain}",
  map: "maps/{map}",
  hold: "robots/{robot}/hold",
  holdAll: "hold",
  stationState: "stations/{station}",
  robotAlarms: "robots/{robot}/alarms",
  stationAlarms: "stations/{station}/alarms",
  alarms: "alarms",
  event: "robots/{robot}/event/{kind}",
  gatewayEvent: "event/{kind}",
  tag: "robots/{robot}/tags/{tag}",
  command: "clients/{client}/command/{operation}",
  reply: "clients/{client}/reply/{id}",
} as const;

export type TopicName = keyof typeof topicTemplates;

/** What the retained topics say. A topic of one value (`tag`) is described by the same value in OPC UA. */
export const topicTexts = {
  status: {
    en: "Whether the gateway is online; its last will.",
    de: "Ob das Gateway online ist; auch sein Last Will.",
  },
  health: {
    en: "The parts of the gateway with their figures.",
    de: "Die Teile des Gateways mit ihren Zahlen.",
  },
  member: {
    en: "Whether a member of the cluster is online; its last will.",
    de: "Ob ein Mitglied des Clusters online ist; auch sein Last Will.",
  },
  robots: {
    en: "Every robot, and the topic of its info.",
    de: "Alle Roboter, je mit dem Topic ihrer Angaben.",
  },
  info: { en: "What a robot is.", de: "Was ein Roboter ist." },
  availability: {
    en: "How far a robot is known, as bare text.",
    de: "Wie weit ein Roboter bekannt ist, als bloßer Text.",
  },
  mission: { en: "A robot's missions.", de: "Die Missionen eines Roboters." },
  battery: { en: "A robot's battery.", de: "Die Batterie eines Roboters." },
  conveyor: { en: "One conveyor of a cart.", de: "Ein Förderband eines Cart-Roboters." },
  presence: {
    en: "A robot as GetOnlineRobots lists it.",
    de: "Ein Roboter, wie GetOnlineRobots ihn aufführt.",
  },
  taskChain: {
    en: "A task chain as QueryTaskChain shows it.",
    de: "Eine Aufgabenkette, wie QueryTaskChain sie zeigt.",
  },
  map: { en: "A map that robots are on.", de: "Eine Karte, auf der Roboter sind." },
  hold: { en: "What holds a robot.", de: "Was einen Roboter sperrt." },
  holdAll: { en: "What holds all robots.", de: "Was alle Roboter sperrt." },
  stationState: { en: "What a station shows.", de: "Was eine Station zeigt." },
  robotAlarms: {
    en: "The alarms of a robot that stand.",
    de: "Die anstehenden Alarme eines Roboters.",
  },
  stationAlarms: {
    en: "The alarms of a station that stand.",
    de: "Die anstehenden Alarme einer Station.",
  },
  alarms: { en: "All alarms that stand.", de: "Alle anstehenden Alarme." },
} as const satisfies Partial<Record<TopicName, TagText>>;

export const describedTopics = Object.keys(topicTexts) as readonly (keyof typeof topicTexts)[];

/** Where the topics of robots and stations stand in the topic tree of the plant. */
export interface Placement {
  /**
   * What the topics of a robot begin with, in place of `<base>/robots/{robot}`: with `{robot}`, its id, or
   * with `{alias}`, its alias and otherwise its id. Null: under the base.
   */
  readonly robot: string | null;
  /**
   * What the topics of a station begin with, in place of `<base>/stations/{station}`: with `{station}`, and
   * with `{place}` where stations have one. Null: under the base.
   */
  readonly station: string | null;
  readonly robots: readonly PlacedRobot[];
  readonly stations: readonly PlacedStation[];
}

/** A robot that the configuration names. */
export interface PlacedRobot {
  readonly robotId: RobotId;
  readonly alias: string | null;
}

export interface PlacedStation {
  readonly name: string;
  /** The levels for `{place}`; null: the configuration gives none. */
  readonly place: string | null;
}

/** Robots and stations have their topics under the base, and none is known. */
export const underBase: Placement = { robot: null, station: null, robots: [], stations: [] };

const ROBOT = "robots/{robot}";
const STATION = "stations/{station}";

/** A template with what it begins with: its placement, or else the base. `{alias}` is still in it. */
export function wholeTemplate(
  base: string,
  name: TopicName,
  { robot, station }: Pick<Placement, "robot" | "station">,
): string {
  const template = topicTemplates[name];
  return moved(template, ROBOT, robot) ?? moved(template, STATION, station) ?? `${base}/${template}`;
}

function moved(template: string, start: string, place: string | null): string | null {
  if (place === null || !`${template}/`.startsWith(`${start}/`)) return null;
  return place + template.slice(start.length);
}

/** What is before the client's name in the topics of clients. */
export function clientsSubtree(base: string): string {
  return `${base}/clients`;
}

/**
 * An id as one topic level: characters that a level cannot carry (and dots, which NodeIds use) are
 * percent-encoded. Never throws: half a surrogate pair becomes U+FFFD.
 */
export function encodeLevel(id: string): string {
  if (plainLevel.test(id)) return id;
  return id
    .replace(halfSurrogate, "\ufffd")
    .replace(needsEncoding, (character) =>
      [...Buffer.from(character, "utf8")]
        .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`)
        .join(""),
    );
}

const plainLevel = /^[A-Za-z0-9_-]+$/;
const halfSurrogate = /\p{Surrogate}/gu;
const needsEncoding = /[\p{Cc}\p{Noncharacter_Code_Point}/#+%.]/gu;

/** Marks an id that is the alias of another robot, as in the names of nodes (OPC UA, robot names). */
const NOT_THE_ALIAS = "~id";

/** The names of robots in topics: ids; or aliases and otherwise ids, if the placement has `{alias}`. */
export function createRobotLevels({ robot, robots }: Placement): (robotId: RobotId) => string {
  if (robot === null || !robot.includes("{alias}")) return encodeLevel;
  const byId = new Map<RobotId, string>();
  for (const { robotId, alias } of robots) if (alias !== null) byId.set(robotId, alias);
  const aliases = new Set(byId.values());
  return (robotId) => {
    const alias = byId.get(robotId);
    if (alias !== undefined) return alias;
    const level = encodeLevel(robotId).replaceAll("~", "%7E");
    return aliases.has(level) ? level + NOT_THE_ALIAS : level;
  };
}
