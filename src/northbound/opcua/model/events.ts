import { missionState, slotOutcome } from "./enums.ts";
import type { ObjectModel, TagTable } from "./member.ts";
import { enumModel } from "./member.ts";

/** What a station's robot did. */
export const visitNames = ["NONE", "ARRIVED", "LEFT", "ABORTED"] as const;

const stationVisit = enumModel("StationVisit", visitNames, {
  NONE: ["none", "keiner"],
  ARRIVED: ["a robot has arrived", "ein Roboter ist angekommen"],
  LEFT: ["the robot has left", "der Roboter ist abgefahren"],
  ABORTED: [
    "the visit ended in another way: the robot is out of sight, or its mission broke off",
    "der Besuch endete anders: der Roboter ist außer Sicht, oder seine Mission brach ab",
  ],
});

/** What every event of ours says, besides the fields of OPC UA's BaseEventType. */
const fleetEventType: ObjectModel = {
  name: "FleetEventType",
  standardBase: "BaseEventType",
  isAbstract: true,
  german: "Ereignis der Flotte",
  en: "An event of a robot, a command or a station",
  de: "Ein Ereignis eines Roboters, eines Befehls oder einer Station",
  tags: {
    RobotId: {
      type: "String",
      german: "Roboterkennung",
      en: "Id of the robot at the fleet service; empty: of no single robot",
      de: "Kennung des Roboters beim Flottendienst; leer: keines einzelnen Roboters",
    },
    SessionId: {
      type: "String",
      german: "Sitzungskennung",
      en: "The run of the gateway that saw it",
      de: "Der Lauf des Gateways, der es gesehen hat",
    },
    Jump: {
      type: "Boolean",
      german: "Sprung",
      en: "TRUE: it happened while no gateway ran; only the states before and after are known",
      de: "TRUE: es geschah, als kein Gateway lief; nur der Zustand davor und danach ist bekannt",
    },
  },
};

/** The command that an event is about, or that was its cause. */
const commandTags = {
  CommandId: {
    type: "String",
    german: "Befehlskennung",
    en: "Id of the command; null: no command of this gateway",
    de: "Kennung des Befehls; null: kein Befehl dieses Gateways",
  },
  CommandProtocol: {
    type: "String",
    german: "Protokoll des Befehls",
    en: "Protocol by which the command came",
    de: "Protokoll, über das der Befehl kam",
  },
  CommandUser: {
    type: "String",
    german: "Benutzer des Befehls",
    en: "User or client that sent the command",
    de: "Benutzer oder Client, der den Befehl gesendet hat",
  },
  CommandRequestId: {
    type: "String",
    german: "Auftragskennung des Befehls",
    en: "Id that the sender gave the command",
    de: "Kennung, die der Absender dem Befehl gegeben hat",
  },
} as const satisfies TagTable;

export const missionEventType: ObjectModel = {
  name: "MissionEventType",
  base: fleetEventType,
  german: "Ereignis einer Mission",
  en: "A mission has another state",
  de: "Eine Mission hat einen anderen Zustand",
  tags: {
    MissionId: {
      type: "String",
      german: "Missionskennung",
      en: "Id of the mission",
      de: "Kennung der Mission",
    },
    From: {
      type: "Int32",
      numbers: missionState,
      german: "Von",
      en: "State before; null: the mission was not seen before",
      de: "Zustand davor; null: die Mission war noch nicht zu sehen",
    },
    To: {
      type: "Int32",
      numbers: missionState,
      german: "Nach",
      en: "State after",
      de: "Zustand danach",
    },
    Owner: {
      type: "String",
      german: "Eigentümer",
      en: "Who made the mission, in the words of the fleet service",
      de: "Wer die Mission angelegt hat, in den Worten des Flottendienstes",
    },
    ...commandTags,
  },
};

export const commandEventType: ObjectModel = {
  name: "CommandEventType",
  base: fleetEventType,
  german: "Ergebnis eines Befehls",
  en: "A command has its outcome; Message has the reason",
  de: "Ein Befehl hat sein Ergebnis; Message nennt den Grund",
  tags: {
    ...commandTags,
    Operation: {
      type: "String",
      german: "Operation",
      en: "Name of the operation, as the fleet service has it",
      de: "Name der Operation, wie der Flottendienst ihn hat",
    },
    From: {
      type: "Int32",
      numbers: slotOutcome,
      german: "Von",
      en: "State before, with the numbers of a slot's Outcome; 0: received, 6: something was found later",
      de: "Stand davor, mit den Nummern von Outcome eines Slots; 0: empfangen, 6: etwas wurde später gefunden",
    },
    To: {
      type: "Int32",
      numbers: slotOutcome,
      german: "Ergebnis",
      en: "Outcome, with the numbers of a slot's Outcome",
      de: "Ergebnis, mit den Nummern von Outcome eines Slots",
    },
    Code: {
      type: "String",
      german: "Fehlercode",
      en: "Code of the reason",
      de: "Code des Grundes",
    },
    RetrySafe: {
      type: "Boolean",
      german: "Wiederholbar",
      en: "TRUE: to send it again cannot do it twice",
      de: "TRUE: erneutes Senden führt es nicht zweimal aus",
    },
    MissionId: {
      type: "String",
      german: "Missionskennung",
      en: "Id of the mission that it made; null: none, or not known",
      de: "Kennung der angelegten Mission; null: keine, oder nicht bekannt",
    },
    Evidence: {
      type: "String",
      german: "Indiz",
      en: "What was seen of the robot, for an outcome that is probable; null: nothing",
      de: "Was vom Roboter zu sehen war, bei wahrscheinlichem Ergebnis; null: nichts",
    },
    FoundLater: {
      type: "String",
      german: "Später gefunden",
      en: "What was found after an outcome that is unknown and stays so; null: nothing",
      de: "Was nach einem Ergebnis gefunden wurde, das unbekannt bleibt; null: nichts",
    },
  },
};

export const stationVisitEventType: ObjectModel = {
  name: "StationVisitEventType",
  base: fleetEventType,
  german: "Besuch einer Station",
  en: "A robot has arrived at a station, or its visit has ended",
  de: "Ein Roboter ist an einer Station angekommen, oder sein Besuch ist zu Ende",
  tags: {
    Station: {
      type: "String",
      german: "Station",
      en: "Name of the station in the configuration",
      de: "Name der Station in der Konfiguration",
    },
    Visit: {
      type: "Int32",
      numbers: stationVisit,
      german: "Besuch",
      en: "What the robot did",
      de: "Was der Roboter getan hat",
    },
    WaitingSeconds: {
      type: "Double",
      german: "Wartezeit",
      en: "From the arrival until a conveyor turned; null unless the robot has left",
      de: "Von der Ankunft, bis ein Förderband lief; null, wenn der Roboter nicht abgefahren ist",
    },
    CycleSeconds: {
      type: "Double",
      german: "Dauer",
      en: "From the arrival until the robot left; null unless it has",
      de: "Von der Ankunft bis zur Abfahrt des Roboters; null, wenn er nicht abgefahren ist",
    },
  },
};

export const eventTypes = [missionEventType, commandEventType, stationVisitEventType] as const;
