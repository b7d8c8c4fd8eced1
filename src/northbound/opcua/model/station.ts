import { alarmsMember } from "./alarms.ts";
import { conditionTypes } from "./conditions.ts";
import { type ObjectModel, second, type TagTable } from "./member.ts";
import { stationSlotType } from "./slot.ts";

/** Elements of `Loaded` and `Rolling`: conveyors with a higher index are not shown. */
export const CONVEYORS_SHOWN = 8;

/** Of a station that requires a permit. */
export const permitTags = {
  Permit: {
    type: "Boolean",
    isWritable: true,
    isOptional: true,
    german: "Freigabe",
    en: "TRUE: robots may come. A level. Shows the last permitted write: it proves nothing",
    de: "TRUE: Roboter dürfen kommen. Ein Pegel. Zeigt das zuletzt erlaubt Geschriebene: es beweist nichts",
  },
  Permitted: {
    type: "Boolean",
    isOptional: true,
    german: "Freigegeben",
    en: "The permit holds: Permit is TRUE and the heartbeat changes",
    de: "Die Freigabe gilt: Permit ist TRUE, und das Lebenszeichen ändert sich",
  },
  NotPermittedReason: {
    type: "String",
    isOptional: true,
    german: "Grund",
    en: "Why Permitted is FALSE",
    de: "Warum Permitted FALSE ist",
  },
} as const satisfies TagTable;

export const validTags = {
  Valid: {
    type: "Boolean",
    german: "Gültig",
    en: "What the station shows of robots is known to be true now",
    de: "Was die Station von Robotern zeigt, ist jetzt bekanntermaßen wahr",
  },
} as const satisfies TagTable;

export const hereTags = {
  RobotHere: {
    type: "Boolean",
    german: "Roboter da",
    en: "A robot is at the station",
    de: "Ein Roboter ist an der Station",
  },
  RobotHereNo: {
    type: "Int32",
    german: "Nummer des Roboters",
    en: "Number of that robot in the configuration, or 0",
    de: "Nummer dieses Roboters in der Konfiguration, oder 0",
  },
  RobotHereName: {
    type: "String",
    german: "Name des Roboters",
    en: "Alias or id of that robot",
    de: "Alias oder Kennung dieses Roboters",
  },
  RobotsHere: {
    type: "Int32",
    german: "Anzahl Roboter da",
    en: "Robots at the station",
    de: "Roboter an der Station",
  },
  Arrived: {
    type: "Boolean",
    german: "Angekommen",
    en: "That robot says that it has arrived",
    de: "Dieser Roboter sagt, dass er angekommen ist",
  },
} as const satisfies TagTable;

export const conveyorArrays = {
  Loaded: {
    type: "Boolean",
    length: CONVEYORS_SHOWN,
    german: "Beladen",
    en: "Conveyors of that robot that are loaded, by index",
    de: "Beladene Förderbänder dieses Roboters, nach Index",
  },
  Rolling: {
    type: "Boolean",
    length: CONVEYORS_SHOWN,
    german: "Läuft",
    en: "Conveyors of that robot that roll, by index",
    de: "Laufende Förderbänder dieses Roboters, nach Index",
  },
} as const satisfies TagTable;

export const nextTags = {
  NextRobot: {
    type: "Boolean",
    german: "Nächster Roboter",
    en: "A robot is on its way: of several, the one with the fewest goals before it",
    de: "Ein Roboter ist unterwegs: von mehreren der mit den wenigsten Zielen davor",
  },
  NextRobotNo: {
    type: "Int32",
    german: "Nummer des nächsten Roboters",
    en: "Number of that robot in the configuration, or 0",
    de: "Nummer dieses Roboters in der Konfiguration, oder 0",
  },
  NextRobotName: {
    type: "String",
    german: "Name des nächsten Roboters",
    en: "Alias or id of that robot",
    de: "Alias oder Kennung dieses Roboters",
  },
  NextRobotGoalsBefore: {
    type: "Int32",
    german: "Ziele davor",
    en: "Goals that it has before this station",
    de: "Ziele, die er vor dieser Station hat",
  },
} as const satisfies TagTable;

export const counterTags = {
  Cycles: {
    type: "Int32",
    german: "Zyklen",
    en: "Visits of which begin and end were seen",
    de: "Besuche, deren Anfang und Ende zu sehen waren",
  },
  Aborted: {
    type: "Int32",
    german: "Abgebrochen",
    en: "Visits that ended otherwise: lost to sight, canceled, failed, or the gateway stopped",
    de: "Besuche, die anders endeten: außer Sicht, abgebrochen, fehlgeschlagen, oder das Gateway hielt an",
  },
  WaitingLast: {
    type: "Double",
    unit: second,
    german: "Letzte Wartezeit",
    en: "From the arrival until one of its conveyors turned, or until it left",
    de: "Von der Ankunft, bis sich eines seiner Förderbänder drehte oder er wegfuhr",
  },
  WaitingTotal: {
    type: "Double",
    unit: second,
    german: "Wartezeit insgesamt",
    en: "All waiting times",
    de: "Alle Wartezeiten",
  },
  CycleLast: {
    type: "Double",
    unit: second,
    german: "Letzte Zykluszeit",
    en: "From the arrival until it left",
    de: "Von der Ankunft, bis er wegfuhr",
  },
  CycleTotal: {
    type: "Double",
    unit: second,
    german: "Zykluszeit insgesamt",
    en: "All cycle times",
    de: "Alle Zykluszeiten",
  },
  Since: {
    type: "DateTime",
    german: "Seit",
    en: "When the counters were set to 0 last",
    de: "Wann die Zähler zuletzt auf 0 gesetzt wurden",
  },
  Reset: {
    type: "Boolean",
    isWritable: true,
    german: "Zurücksetzen",
    en: "TRUE sets the counters to 0, once; write FALSE before the next",
    de: "TRUE setzt die Zähler auf 0, einmal; vor dem nächsten Mal FALSE schreiben",
  },
} as const satisfies TagTable;

const countersType: ObjectModel = {
  name: "StationCountersType",
  german: "Zähler",
  en: "What a station has counted since its last reset, kept over restarts",
  de: "Was eine Station seit dem Zurücksetzen gezählt hat, auch über Neustarts",
  tags: counterTags,
};

const stationType: ObjectModel = {
  name: "StationType",
  german: "Station",
  en: "A station of the configuration: a PLC and its destinations",
  de: "Eine Station der Konfiguration: eine SPS und ihre Ziele",
  conditions: [conditionTypes.alarm],
  tags: { ...permitTags, ...validTags, ...hereTags, ...conveyorArrays, ...nextTags },
  objects: {
    Alarms: alarmsMember,
    Counters: {
      model: countersType,
      german: "Zähler",
      en: "What the station has counted",
      de: "Was die Station gezählt hat",
    },
    Slot: {
      model: stationSlotType,
      german: "Slot",
      en: "Takes the station's commands, each for the robot that it names",
      de: "Nimmt die Befehle der Station an, jeden für den Roboter, den er nennt",
    },
  },
};

export const stationsType: ObjectModel = {
  name: "StationsType",
  german: "Stationen",
  en: "Every station of the configuration, with its slot",
  de: "Jede Station der Konfiguration, mit ihrem Slot",
  tags: {},
  each: {
    name: "<Station>",
    model: stationType,
    german: "Station",
    en: "A station, by its name in the configuration",
    de: "Eine Station, mit ihrem Namen in der Konfiguration",
  },
};
