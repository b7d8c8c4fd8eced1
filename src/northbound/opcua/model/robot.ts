import { batteryStateNames, chargeMethodNames } from "../../../domain/robot.ts";
import { robotAlarmsMember } from "./alarms.ts";
import { conditionTypes } from "./conditions.ts";
import { conveyorsType } from "./conveyor.ts";
import { quality, standReason } from "./enums.ts";
import { holdTags } from "./hold.ts";
import { enumModel, type ObjectMember, type ObjectModel, percent, second, type TagTable } from "./member.ts";
import { missionType } from "./mission.ts";
import { chainType, exceptionType, positionType } from "./place.ts";
import { conveyorSlotType, missionSlotType } from "./slot.ts";

const batteryState = enumModel("BatteryState", batteryStateNames, {
  STATE_UNKNOWN: ["unknown", "unbekannt"],
  STATE_CHARGING: ["charging", "lädt"],
  STATE_DISCHARGING: ["discharging", "entlädt"],
  STATE_FULL: ["full", "voll"],
});

const chargeMethod = enumModel("ChargeMethod", chargeMethodNames, {
  CHARGE_METHOD_UNKNOWN: ["unknown", "unbekannt"],
  CHARGE_METHOD_NONE: ["none", "keine"],
  CHARGE_METHOD_WIRED: ["by cable", "per Kabel"],
  CHARGE_METHOD_CONTACT: ["by contacts", "über Kontakte"],
});

export const batteryTags = {
  ChargePercent: {
    type: "Int32",
    unit: percent,
    range: [0, 100],
    isHistorized: true,
    german: "Ladezustand",
    en: "How full the battery is",
    de: "Wie voll die Batterie ist",
  },
  State: {
    type: "Int32",
    enumeration: batteryState,
    german: "Zustand",
    en: "What the battery does",
    de: "Was die Batterie tut",
  },
  ChargeMethod: {
    type: "Int32",
    enumeration: chargeMethod,
    german: "Ladeart",
    en: "How the battery is being charged",
    de: "Wie die Batterie geladen wird",
  },
  Charging: {
    type: "Boolean",
    german: "Lädt",
    en: "State is charging (1)",
    de: "State ist lädt (1)",
  },
} as const satisfies TagTable;

const batteryType: ObjectModel = {
  name: "BatteryType",
  german: "Batterie",
  en: "The battery of a robot, as its battery stream tells",
  de: "Die Batterie eines Roboters, wie ihr Datenstrom sie meldet",
  tags: batteryTags,
};

export const summaryTags = {
  Valid: {
    type: "Boolean",
    german: "Gültig",
    en: "Quality is good (0): use the robot's other tags only while this is TRUE",
    de: "Quality ist good (0): die anderen Variablen des Roboters nur verwenden, solange dies TRUE ist",
  },
  Quality: {
    type: "Int32",
    enumeration: quality,
    german: "Güte",
    en: "How far the robot's values are known to be true",
    de: "Wie weit die Werte des Roboters bekanntermaßen wahr sind",
  },
  AgeSeconds: {
    type: "Double",
    unit: second,
    german: "Alter",
    en: "For how long the robot's values have not been good; 0: they are",
    de: "Wie lange die Werte des Roboters schon nicht mehr gut sind; 0: sie sind es",
  },
  ClockValid: {
    type: "Boolean",
    german: "Uhr gültig",
    en: "The robot's clock may be right; FALSE: its values carry the time of their receipt",
    de: "Die Uhr des Roboters kann richtig gehen; FALSE: seine Werte tragen die Zeit ihres Empfangs",
  },
  Family: {
    type: "String",
    german: "Familie",
    en: "cart, serve, base, or unknown",
    de: "cart, serve, base oder unknown",
  },
  RobotId: {
    type: "String",
    german: "Roboterkennung",
    en: "The robot's id at the fleet service",
    de: "Die Kennung des Roboters beim Flottendienst",
  },
  Present: {
    type: "Boolean",
    german: "Anwesend",
    en: "The fleet service lists the robot as online",
    de: "Der Flottendienst listet den Roboter als online",
  },
} as const satisfies TagTable;

export const idleReasonTags = {
  ReadyForCommand: {
    type: "Boolean",
    german: "Bereit für Befehl",
    en: "The robot's quality is good and no user holds it",
    de: "Die Güte des Roboters ist gut, und kein Benutzer hält ihn",
  },
  NotReadyReason: {
    type: "String",
    german: "Grund",
    en: "Why ReadyForCommand is FALSE",
    de: "Warum ReadyForCommand FALSE ist",
  },
  StandReason: {
    type: "Int32",
    enumeration: standReason,
    german: "Grund des Stehens",
    en: "Why the robot stands: the first reason that holds",
    de: "Warum der Roboter steht: der erste Grund, der zutrifft",
  },
  StandText: {
    type: "String",
    german: "Grund des Stehens als Text",
    en: "StandReason in words; empty while the robot moves",
    de: "StandReason in Worten; leer, solange der Roboter fährt",
  },
} as const satisfies TagTable;

const missionSlot: ObjectMember = {
  model: missionSlotType,
  german: "Missions-Slot",
  en: "Sends the robot on missions",
  de: "Schickt den Roboter auf Missionen",
};

export const robotType: ObjectModel = {
  name: "RobotType",
  german: "Roboter",
  en: "A robot: what is known of it, and the slot that commands it",
  de: "Ein Roboter: was von ihm bekannt ist, und der Slot, der ihm befiehlt",
  conditions: [conditionTypes.alarm, conditionTypes.battery],
  tags: { ...summaryTags, ...idleReasonTags, ...holdTags },
  objects: {
    Mission: {
      model: missionType,
      german: "Mission",
      en: "The robot's current mission, and its queue",
      de: "Die aktuelle Mission des Roboters und seine Schlange",
    },
    Battery: {
      model: batteryType,
      german: "Batterie",
      en: "The robot's battery",
      de: "Die Batterie des Roboters",
    },
    Position: {
      model: positionType,
      german: "Position",
      en: "Where the robot was seen last",
      de: "Wo der Roboter zuletzt gesehen wurde",
    },
    TaskChain: {
      model: chainType,
      german: "Aufgabenkette",
      en: "The robot's task chain",
      de: "Die Aufgabenkette des Roboters",
    },
    AmrException: {
      model: exceptionType,
      german: "Störung",
      en: "The robot's exceptions",
      de: "Die Störungen des Roboters",
    },
    Alarms: robotAlarmsMember,
    MissionSlot: missionSlot,
    MissionSlot2: {
      ...missionSlot,
      isOptional: true,
      en: "The same for an HMI, beside the slot of the PLC (opcua.missionSlots)",
      de: "Dasselbe für ein Bedienpult, neben dem Slot der SPS (opcua.missionSlots)",
    },
  },
};

export const cartType: ObjectModel = {
  name: "CartType",
  german: "Cart",
  en: "A robot with conveyors",
  de: "Ein Roboter mit Förderbändern",
  base: robotType,
  tags: {},
  objects: {
    Conveyors: {
      model: conveyorsType,
      german: "Förderbänder",
      en: "The cart's conveyors, by index",
      de: "Die Förderbänder des Carts, nach Index",
    },
    ConveyorSlot: {
      model: conveyorSlotType,
      german: "Förderband-Slot",
      en: "Turns and stops the cart's conveyors",
      de: "Dreht die Förderbänder des Carts und hält sie an",
    },
  },
};

export const robotsTags = {
  NodeVersion: {
    type: "String",
    isProperty: true,
    german: "Knotenversion",
    en: "Changes when robots are added",
    de: "Ändert sich, wenn Roboter hinzukommen",
  },
  NodesMissing: {
    type: "Int32",
    german: "Fehlende Knoten",
    en: "Robots whose nodes are still to be built; asking for one builds it at once",
    de: "Roboter, deren Knoten noch gebaut werden; wer nach einem fragt, bekommt ihn sofort",
  },
} as const satisfies TagTable;

export const robotsType: ObjectModel = {
  name: "RobotsType",
  german: "Roboter",
  en: "Every robot that is configured or was ever heard of",
  de: "Jeder Roboter, der konfiguriert ist oder je gemeldet wurde",
  tags: robotsTags,
  each: {
    name: "<Robot>",
    model: robotType,
    german: "Roboter",
    en: "A robot, by its alias or id; CartType with conveyors",
    de: "Ein Roboter, mit Alias oder Kennung; CartType mit Förderbändern",
  },
};
