import { CLOSED_SHOWN } from "../../../domain/ticket-numbers.ts";
import {
  missionOperation,
  missionState,
  motorCommand,
  slotOutcome,
  stationMotorCommand,
  stationOperation,
} from "./enums.ts";
import type { ObjectModel, TagTable } from "./member.ts";

/** The length of `Command`: the ticket and its command. */
export const COMMAND_LENGTH = 12;
const ANSWER_LENGTH = 20;
/** Numbers in `Pose`. */
export const POSE_LENGTH = 3;
/** How many destinations a mission sent through a slot may have. */
export const LONGEST_ROUTE = 16;

export const requestTags = {
  NextId: {
    type: "Int32",
    german: "Nächste Nummer",
    en: "The number to use now; 0: wait",
    de: "Die Nummer, die jetzt gilt; 0: warten",
  },
  RequestId: {
    type: "Int32",
    isWritable: true,
    german: "Auftragsnummer",
    en: "NextId starts the command of your parameters; its negative closes the number",
    de: "NextId startet den Befehl der eigenen Parameter; ihr Negatives schließt die Nummer",
  },
  Command: {
    type: "Int32",
    length: COMMAND_LENGTH,
    isWritable: true,
    german: "Befehl",
    en: "A whole command: the number, then what this slot takes",
    de: "Ein ganzer Befehl: die Nummer, dann was dieser Slot nimmt",
  },
  CommandText: {
    type: "String",
    isWritable: true,
    german: "Befehl als Text",
    en: "A whole command as text: number;operation;…",
    de: "Ein ganzer Befehl als Text: Nummer;Operation;…",
  },
} as const satisfies TagTable;

export const answerTags = {
  Outcome: {
    type: "Int32",
    enumeration: slotOutcome,
    german: "Ergebnis",
    en: "What became of the command of AcceptedId",
    de: "Was aus dem Befehl von AcceptedId wurde",
  },
  ErrorId: {
    type: "Int32",
    german: "Fehlernummer",
    en: "0, or what was wrong with the command of AcceptedId",
    de: "0, oder was am Befehl von AcceptedId falsch war",
  },
  ErrorText: {
    type: "String",
    german: "Fehlertext",
    en: "ErrorId in words, and the evidence of an outcome",
    de: "ErrorId in Worten, und die Belege eines Ergebnisses",
  },
  RetrySafe: {
    type: "Boolean",
    german: "Wiederholbar",
    en: "Sending the command again can move nothing twice",
    de: "Den Befehl nochmals zu senden bewegt nichts doppelt",
  },
  MissionId: {
    type: "String",
    german: "Missionskennung",
    en: "Mission of the command of AcceptedId",
    de: "Mission des Befehls von AcceptedId",
  },
  AcceptedId: {
    type: "Int32",
    german: "Angenommene Nummer",
    en: "The last number whose command is recorded",
    de: "Die letzte Nummer, deren Befehl aufgezeichnet ist",
  },
  AcceptedBy: {
    type: "String",
    german: "Angenommen von",
    en: "The user of AcceptedId",
    de: "Der Benutzer von AcceptedId",
  },
  AcceptedByNo: {
    type: "Int32",
    german: "Angenommen von Nummer",
    en: "The number of that user in the configuration; 0: you, without one; -1: another without one",
    de: "Die Nummer dieses Benutzers in der Konfiguration; 0: man selbst, ohne; -1: ein anderer ohne",
  },
  AcceptedText: {
    type: "String",
    german: "Angenommener Befehl",
    en: "The command of AcceptedId in words",
    de: "Der Befehl von AcceptedId in Worten",
  },
  DoneId: {
    type: "Int32",
    german: "Beendete Nummer",
    en: "The last number whose command has ended",
    de: "Die letzte Nummer, deren Befehl beendet ist",
  },
  RejectedId: {
    type: "Int32",
    german: "Abgewiesene Nummer",
    en: "The number that came into Closed last",
    de: "Die Nummer, die zuletzt nach Closed kam",
  },
  RejectedError: {
    type: "Int32",
    german: "Grund der Abweisung",
    en: "Why it is in Closed; 0: it was closed as asked",
    de: "Warum sie in Closed steht; 0: wie gewünscht geschlossen",
  },
  RejectedText: {
    type: "String",
    german: "Grund als Text",
    en: "RejectedError in words",
    de: "RejectedError in Worten",
  },
  Closed: {
    type: "Int32",
    length: CLOSED_SHOWN,
    german: "Geschlossen",
    en: "The last closed numbers: n was never sent; -n: look at the robot",
    de: "Die letzten geschlossenen Nummern: n wurde nie gesendet; -n: nach dem Roboter sehen",
  },
  Answer: {
    type: "Int32",
    length: ANSWER_LENGTH,
    german: "Antwort",
    en: "Everything in one read: AcceptedId, DoneId, Outcome, ErrorId, RetrySafe, RejectedId, RejectedError, NextId, AcceptedByNo, your last number, its verdict, its outcome, Closed",
    de: "Alles in einem Lesen: AcceptedId, DoneId, Outcome, ErrorId, RetrySafe, RejectedId, RejectedError, NextId, AcceptedByNo, eigene letzte Nummer, ihr Urteil, ihr Ergebnis, Closed",
  },
} as const satisfies TagTable;

export const followTags = {
  MissionState: {
    type: "Int32",
    enumeration: missionState,
    german: "Missionszustand",
    en: "State of the mission of MissionId",
    de: "Zustand der Mission von MissionId",
  },
  GoalIndex: {
    type: "Int32",
    german: "Platz des Ziels",
    en: "Place of the goal to which it drives, from 0",
    de: "Platz des Ziels, zu dem sie fährt, ab 0",
  },
  Arrived: {
    type: "Boolean",
    german: "Angekommen",
    en: "The robot has arrived at that goal",
    de: "Der Roboter ist an diesem Ziel angekommen",
  },
} as const satisfies TagTable;

const missionParameters = {
  Operation: {
    type: "Int32",
    isWritable: true,
    numbers: missionOperation,
    german: "Operation",
    en: "What the robot is to do",
    de: "Was der Roboter tun soll",
  },
  Destination: {
    type: "String",
    isWritable: true,
    german: "Ziel",
    en: "A destination by name",
    de: "Ein Ziel mit Namen",
  },
  DestinationNo: {
    type: "Int32",
    isWritable: true,
    german: "Zielnummer",
    en: "A destination by its number in the configuration; 0: none",
    de: "Ein Ziel mit seiner Nummer in der Konfiguration; 0: keines",
  },
  Destinations: {
    type: "String",
    length: LONGEST_ROUTE,
    isWritable: true,
    german: "Ziele",
    en: "Destinations by name, from the first on without gaps",
    de: "Ziele mit Namen, vom ersten an ohne Lücken",
  },
  TargetMissionId: {
    type: "String",
    isWritable: true,
    german: "Betroffene Mission",
    en: "The mission to cancel, pause, resume or finish; empty: the current one. Serves one command",
    de: "Die Mission zum Abbrechen, Pausieren, Fortsetzen oder Beenden; leer: die aktuelle. Gilt für einen Befehl",
  },
  TargetTaskChainId: {
    type: "Int32",
    isWritable: true,
    german: "Betroffene Aufgabenkette",
    en: "The task chain to cancel or confirm; 0: the robot's. Serves one command",
    de: "Die Aufgabenkette zum Abbrechen oder Bestätigen; 0: die des Roboters. Gilt für einen Befehl",
  },
  Pose: {
    type: "Int32",
    length: POSE_LENGTH,
    isWritable: true,
    german: "Pose",
    en: "x and y in millimetres, heading in milliradians",
    de: "x und y in Millimeter, Richtung in Milliradiant",
  },
} as const satisfies TagTable;

const conveyorParameters = {
  ConveyorIndex: {
    type: "Int32",
    isWritable: true,
    german: "Förderband",
    en: "Index of the conveyor",
    de: "Index des Förderbands",
  },
  MotorCommand: {
    type: "Int32",
    isWritable: true,
    numbers: motorCommand,
    german: "Motorbefehl",
    en: "What the conveyor is to do",
    de: "Was das Förderband tun soll",
  },
} as const satisfies TagTable;

const stationParameters = {
  Robot: {
    type: "String",
    isWritable: true,
    german: "Roboter",
    en: "The robot by alias or id",
    de: "Der Roboter mit Alias oder Kennung",
  },
  RobotNo: {
    type: "Int32",
    isWritable: true,
    german: "Roboternummer",
    en: "The robot by its number in the configuration; 0: none",
    de: "Der Roboter mit seiner Nummer in der Konfiguration; 0: keiner",
  },
  ...missionParameters,
  Operation: { ...missionParameters.Operation, numbers: stationOperation },
  ...conveyorParameters,
  MotorCommand: { ...conveyorParameters.MotorCommand, numbers: stationMotorCommand },
} as const satisfies TagTable;

export const leaseTags = {
  Leased: {
    type: "Boolean",
    german: "Belegt",
    en: "This station leases the robot that the slot names",
    de: "Diese Station belegt den Roboter, den der Slot nennt",
  },
  LeaseStation: {
    type: "String",
    german: "Belegende Station",
    en: "The station that leases that robot; empty: none",
    de: "Die Station, die diesen Roboter belegt; leer: keine",
  },
  LeaseUser: {
    type: "String",
    german: "Belegender Benutzer",
    en: "The user to which the lease belongs",
    de: "Der Benutzer, dem die Belegung gehört",
  },
} as const satisfies TagTable;

const stationHeartbeat = {
  Heartbeat: {
    type: "Int32",
    isWritable: true,
    german: "Lebenszeichen",
    en: "Change it while your program runs: a lease ends when it stands still",
    de: "Ändern, solange das Programm läuft: steht es still, endet die Belegung",
  },
} as const satisfies TagTable;

/** The common part of all slots. */
const slotType: ObjectModel = {
  name: "SlotType",
  german: "Slot",
  en: "Takes commands, each at most once, and says what became of them",
  de: "Nimmt Befehle an, jeden höchstens einmal, und sagt, was aus ihnen wurde",
  isAbstract: true,
  tags: { ...requestTags, ...answerTags },
};

export const missionSlotType = slotModel(
  "MissionSlotType",
  { german: "Missions-Slot", en: "Takes missions for one robot", de: "Nimmt Missionen für einen Roboter an" },
  missionParameters,
  followTags,
);
export const conveyorSlotType = slotModel(
  "ConveyorSlotType",
  {
    german: "Förderband-Slot",
    en: "Turns and stops the conveyors of one cart",
    de: "Dreht die Förderbänder eines Carts und hält sie an",
  },
  conveyorParameters,
  {},
);
export const stationSlotType = slotModel(
  "StationSlotType",
  {
    german: "Stations-Slot",
    en: "Takes commands of a station for every robot",
    de: "Nimmt Befehle einer Station für jeden Roboter an",
  },
  stationParameters,
  { ...stationHeartbeat, ...leaseTags },
);

/** A slot with its parameters. */
function slotModel(
  name: string,
  texts: Pick<ObjectModel, "german" | "en" | "de">,
  parameters: TagTable,
  others: TagTable,
): ObjectModel {
  return { name, ...texts, base: slotType, tags: { ...parameters, ...others } };
}
