import type { TagText } from "../../contracts/tags.ts";
import type { TopicName } from "./topic-templates.ts";

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
