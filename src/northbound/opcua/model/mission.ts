import { missionFeedback, missionState } from "./enums.ts";
import { millimetre, type ObjectModel, type TagTable } from "./member.ts";

/** How many missions of the queue the arrays show: the newest, when there are more. */
export const LISTED_MISSIONS = 8;

export const missionTags = {
  MissionId: {
    type: "String",
    german: "Missionskennung",
    en: "Id of the current mission; empty without one",
    de: "Kennung der aktuellen Mission; ohne Mission leer",
  },
  State: {
    type: "Int32",
    enumeration: missionState,
    isHistorized: true,
    german: "Zustand",
    en: "State of the current mission",
    de: "Zustand der aktuellen Mission",
  },
  StateText: {
    type: "String",
    german: "Zustand als Text",
    en: "State in the words of the fleet service",
    de: "Zustand in den Worten des Flottendienstes",
  },
  CurrentMissionIndex: {
    type: "Int32",
    german: "Platz der aktuellen Mission",
    en: "Place of the current mission in the queue, from 0; -1: no mission is active",
    de: "Platz der aktuellen Mission in der Schlange, ab 0; -1: keine Mission ist aktiv",
  },
  MissionCount: {
    type: "Int32",
    german: "Anzahl Missionen",
    en: "Missions in the robot's queue",
    de: "Missionen in der Schlange des Roboters",
  },
  Owner: {
    type: "String",
    german: "Eigentümer",
    en: "Owner of the current mission, as the fleet service tells",
    de: "Eigentümer der aktuellen Mission, wie ihn der Flottendienst nennt",
  },
  MissionType: {
    type: "String",
    german: "Missionsart",
    en: "Type of the current mission",
    de: "Art der aktuellen Mission",
  },
  CurrentGoalIndex: {
    type: "Int32",
    german: "Platz des Ziels",
    en: "Place of the goal to which the robot drives, from 0",
    de: "Platz des Ziels, zu dem der Roboter fährt, ab 0",
  },
  GoalCount: {
    type: "Int32",
    german: "Anzahl Ziele",
    en: "Goals of the current mission",
    de: "Ziele der aktuellen Mission",
  },
  CurrentGoal: {
    type: "String",
    german: "Ziel",
    en: "The destination to which the robot drives, or pose x y heading in metres and radians",
    de: "Das Ziel, zu dem der Roboter fährt, oder pose x y Richtung in Meter und Radiant",
  },
  Feedback: {
    type: "Int32",
    enumeration: missionFeedback,
    german: "Rückmeldung",
    en: "What the robot does for its mission",
    de: "Was der Roboter für seine Mission tut",
  },
  Arrived: {
    type: "Boolean",
    german: "Angekommen",
    en: "The robot has arrived at the current goal",
    de: "Der Roboter ist am aktuellen Ziel angekommen",
  },
  SequenceNumber: {
    type: "Double",
    german: "Laufnummer",
    en: "Number of the robot's last mission message",
    de: "Nummer der letzten Missionsmeldung des Roboters",
  },
  MissionIds: {
    type: "String",
    length: LISTED_MISSIONS,
    german: "Missionskennungen",
    en: "Ids of the missions in the queue; of more than 8 the newest",
    de: "Kennungen der Missionen in der Schlange; von mehr als 8 die neuesten",
  },
  MissionStates: {
    type: "Int32",
    length: LISTED_MISSIONS,
    numbers: missionState,
    german: "Missionszustände",
    en: "States of the missions in MissionIds",
    de: "Zustände der Missionen in MissionIds",
  },
} as const satisfies TagTable;

/** How many goals of a mission are shown: the first. */
export const LISTED_GOALS = 16;

export const goalTags = {
  Goals: {
    type: "String",
    length: LISTED_GOALS,
    german: "Ziele",
    en: "The goals of the current mission: destinations, or pose x y heading; of more than 16 the first",
    de: "Die Ziele der aktuellen Mission: Namen, oder pose x y Richtung; von mehr als 16 die ersten",
  },
  GoalXMm: {
    type: "Int32",
    length: LISTED_GOALS,
    unit: millimetre,
    german: "X der Ziele",
    en: "x of the goals that are poses; 0: the goal is a destination",
    de: "x der Ziele, die Posen sind; 0: das Ziel hat einen Namen",
  },
  GoalYMm: {
    type: "Int32",
    length: LISTED_GOALS,
    unit: millimetre,
    german: "Y der Ziele",
    en: "y of the goals that are poses; 0: the goal is a destination",
    de: "y der Ziele, die Posen sind; 0: das Ziel hat einen Namen",
  },
} as const satisfies TagTable;

export const missionType: ObjectModel = {
  name: "MissionType",
  german: "Mission",
  en: "The current mission of a robot, and its queue",
  de: "Die aktuelle Mission eines Roboters und seine Schlange",
  tags: { ...missionTags, ...goalTags },
};
