import type { ObjectModel, TagTable } from "./member.ts";

const adviceTags = {
  Cause: {
    type: "String",
    german: "Ursache",
    en: "What is usually behind it",
    de: "Was meist dahintersteckt",
  },
  Advice: {
    type: "String",
    german: "Abhilfe",
    en: "What a person does about it",
    de: "Was ein Mensch dagegen tut",
  },
} as const satisfies TagTable;

/** The types of conditions: those of OPC UA part 9, and what a person does about them. */
export const conditionTypes = {
  alarm: {
    name: "FleetAlarmType",
    standardBase: "OffNormalAlarmType",
    german: "Meldung",
    en: "An alarm of a robot, a station or the gateway",
    de: "Eine Meldung eines Roboters, einer Station oder des Gateways",
    tags: adviceTags,
  },
  battery: {
    name: "BatteryAlarmType",
    standardBase: "ExclusiveLevelAlarmType",
    german: "Akkumeldung",
    en: "The battery of a robot is low, or very low",
    de: "Der Akku eines Roboters ist schwach oder sehr schwach",
    tags: adviceTags,
  },
  certificate: {
    name: "CertificateAlarmType",
    standardBase: "CertificateExpirationAlarmType",
    german: "Zertifikatsmeldung",
    en: "A certificate of the gateway ends soon",
    de: "Ein Zertifikat des Gateways läuft bald ab",
    tags: adviceTags,
  },
} as const satisfies Readonly<Record<string, ObjectModel>>;

/** The type of a condition. */
export type ConditionKind = keyof typeof conditionTypes;

/** The type of the condition with this ConditionName. */
export function conditionKind(name: string): ConditionKind {
  if (name === "BATTERY") return "battery";
  return name === "CERTIFICATE_EXPIRES" ? "certificate" : "alarm";
}
