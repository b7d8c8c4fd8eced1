import { metre, type ObjectModel, radian, second, type TagTable } from "./member.ts";

export const listTags = {
  AmrId: {
    type: "Int32",
    german: "Roboternummer",
    en: "The robot's number, by which task chains name it",
    de: "Die Nummer des Roboters, mit der Aufgabenketten ihn nennen",
  },
  MapId: {
    type: "Int32",
    isHistorized: true,
    german: "Karte",
    en: "The map that the robot uses",
    de: "Die Karte des Roboters",
  },
  PointCode: {
    type: "String",
    german: "Punkt",
    en: "Code of the point at which the robot is",
    de: "Code des Punkts, an dem der Roboter ist",
  },
  StateId: {
    type: "String",
    german: "Zustandskennung",
    en: "The robot's state in the online list",
    de: "Der Zustand des Roboters in der Online-Liste",
  },
  TaskChainId: {
    type: "Int32",
    german: "Aufgabenkette",
    en: "Number of the robot's task chain; 0: none",
    de: "Nummer der Aufgabenkette des Roboters; 0: keine",
  },
} as const satisfies TagTable;

export const coordinateTags = {
  X: {
    type: "Double",
    unit: metre,
    isHistorized: true,
    german: "X",
    en: "Place on the map, x",
    de: "Ort auf der Karte, x",
  },
  Y: {
    type: "Double",
    unit: metre,
    isHistorized: true,
    german: "Y",
    en: "Place on the map, y",
    de: "Ort auf der Karte, y",
  },
  Heading: {
    type: "Double",
    unit: radian,
    isHistorized: true,
    german: "Richtung",
    en: "Where the robot looks to on the map",
    de: "Wohin der Roboter auf der Karte schaut",
  },
} as const satisfies TagTable;

export const ageTags = {
  AgeSeconds: {
    type: "Double",
    unit: second,
    german: "Alter",
    en: "For how long the robot has not been listed; 0: it is",
    de: "Wie lange der Roboter schon nicht mehr gelistet ist; 0: er ist es",
  },
} as const satisfies TagTable;

export const positionType: ObjectModel = {
  name: "PositionType",
  german: "Position",
  en: "Where the online list of the fleet service saw the robot last",
  de: "Wo die Online-Liste des Flottendienstes den Roboter zuletzt gesehen hat",
  tags: { ...listTags, ...coordinateTags, ...ageTags },
};

export const chainTags = {
  Id: {
    type: "Int32",
    german: "Nummer",
    en: "Number of the task chain; 0: none",
    de: "Nummer der Aufgabenkette; 0: keine",
  },
  Status: {
    type: "String",
    german: "Status",
    en: "State of the chain in the words of the fleet service",
    de: "Zustand der Kette in den Worten des Flottendienstes",
  },
  TaskCount: { type: "Int32", german: "Anzahl Aufgaben", en: "Tasks of the chain", de: "Aufgaben der Kette" },
  CurrentTaskIndex: {
    type: "Int32",
    german: "Platz der Aufgabe",
    en: "Place of the current task in the chain, from 0; -1: none",
    de: "Platz der aktuellen Aufgabe in der Kette, ab 0; -1: keine",
  },
  CurrentTaskType: {
    type: "String",
    german: "Art der Aufgabe",
    en: "Type of the current task",
    de: "Art der aktuellen Aufgabe",
  },
  CurrentTaskPoint: {
    type: "String",
    german: "Punkt der Aufgabe",
    en: "Code of the point of the current task",
    de: "Code des Punkts der aktuellen Aufgabe",
  },
  WaitsForConfirmation: {
    type: "Boolean",
    german: "Wartet auf Bestätigung",
    en: "The robot waits until somebody confirms its task",
    de: "Der Roboter wartet, bis jemand seine Aufgabe bestätigt",
  },
} as const satisfies TagTable;

export const chainType: ObjectModel = {
  name: "TaskChainType",
  german: "Aufgabenkette",
  en: "The task chain that a robot executes",
  de: "Die Aufgabenkette, die ein Roboter ausführt",
  tags: chainTags,
};

/** How many exceptions are shown: the first. */
export const LISTED_EXCEPTIONS = 8;

export const exceptionTags = {
  Exception: {
    type: "String",
    length: LISTED_EXCEPTIONS,
    german: "Störungen",
    en: "What the robot reports, in its own words; of more than 8 the first",
    de: "Was der Roboter meldet, in seinen Worten; von mehr als 8 die ersten",
  },
  ExceptionCodes: {
    type: "String",
    length: LISTED_EXCEPTIONS,
    german: "Störungscodes",
    en: "The codes of the robot's exceptions; of more than 8 the first",
    de: "Die Codes der Störungen des Roboters; von mehr als 8 die ersten",
  },
  Level: {
    type: "Int32",
    german: "Stufe",
    en: "How grave they are, as the robot says",
    de: "Wie schwer sie wiegen, wie es der Roboter sagt",
  },
} as const satisfies TagTable;

export const exceptionType: ObjectModel = {
  name: "AmrExceptionType",
  german: "Störung",
  en: "The exceptions of a robot, as the online list shows them",
  de: "Die Störungen eines Roboters, wie die Online-Liste sie zeigt",
  tags: exceptionTags,
};
