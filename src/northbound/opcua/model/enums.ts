import { idleReasonNames } from "../../../domain/idle-reason.ts";
import { feedbackStatusNames, missionStateNames } from "../../../domain/mission.ts";
import { qualities } from "../../../domain/observed.ts";
import {
  healthStateNames,
  installationStateNames,
  operationStateNames,
  payloadStateNames,
} from "../../../domain/robot.ts";
import { chainOperations } from "../commands/chain-operations.ts";
import { missionOperations } from "../commands/mission-operations.ts";
import type { Meaning } from "../commands/slot-operation.ts";
import { enumModel, numberedModel } from "./member.ts";

export const quality = enumModel("Quality", qualities, {
  good: ["known to be true now", "jetzt bekanntermaßen wahr"],
  stale: ["the last value; its stream is silent or cut", "der letzte Wert; sein Datenstrom schweigt"],
  offline: [
    "the last value; the service is not reached, or the robot is not listed",
    "der letzte Wert; der Dienst ist nicht erreichbar oder der Roboter nicht gelistet",
  ],
  lost: ["no value: it is not known for too long", "kein Wert: schon zu lange nicht bekannt"],
  unknown: ["no value: it was never received", "kein Wert: nie empfangen"],
});

export const standReason = enumModel("StandReason", idleReasonNames, {
  UNKNOWN: ["unknown", "unbekannt"],
  MOVING: ["it moves", "er fährt"],
  HELD: ["a user holds it", "ein Benutzer hält ihn"],
  EXCEPTION: ["it reports an exception", "er meldet eine Störung"],
  PAUSED: ["paused", "pausiert"],
  WAITS_FOR_CONFIRMATION: ["waits for a confirmation", "wartet auf eine Bestätigung"],
  WAITS_AT_GOAL: ["waits at its goal", "wartet an seinem Ziel"],
  CHARGING: ["charges", "lädt"],
  IDLE: ["has nothing to do", "hat nichts zu tun"],
  CONVEYOR_ERROR: ["a conveyor reports an error", "ein Förderband meldet einen Fehler"],
  LEASED: ["a station leases it", "eine Station hat ihn belegt"],
  NO_REASON_KNOWN: ["no reason is known", "kein Grund bekannt"],
});

export const missionState = enumModel("MissionState", missionStateNames, {
  STATE_UNKNOWN: ["unknown, or no mission", "unbekannt, oder keine Mission"],
  STATE_DEFAULT: ["waits in the queue", "wartet in der Schlange"],
  STATE_RUNNING: ["running", "läuft"],
  STATE_PAUSED: ["paused", "pausiert"],
  STATE_CANCELED: ["canceled", "abgebrochen"],
  STATE_SUCCEEDED: ["succeeded", "gelungen"],
  STATE_FAILED: ["failed", "fehlgeschlagen"],
});

export const missionFeedback = enumModel("MissionFeedback", feedbackStatusNames, {
  STATUS_UNKNOWN: ["unknown", "unbekannt"],
  STATUS_NAVIGATING: ["drives to the goal", "fährt zum Ziel"],
  STATUS_ARRIVED: ["has arrived at the goal", "ist am Ziel angekommen"],
  STATUS_DOCKING: ["docks", "dockt an"],
  STATUS_UNDOCKING: ["undocks", "dockt ab"],
});

export const conveyorOperation = enumModel("ConveyorOperation", operationStateNames, {
  OPERATION_STATE_UNKNOWN: ["unknown", "unbekannt"],
  OPERATION_STATE_ROLLING: ["rolls", "läuft"],
  OPERATION_STATE_STOP: ["stands still", "steht"],
});

export const conveyorPayload = enumModel("ConveyorPayload", payloadStateNames, {
  PAYLOAD_STATE_UNKNOWN: ["unknown", "unbekannt"],
  PAYLOAD_STATE_LOADED: ["loaded", "beladen"],
  PAYLOAD_STATE_EMPTY: ["empty", "leer"],
});

export const conveyorHealth = enumModel("ConveyorHealth", healthStateNames, {
  HEALTH_STATE_UNKNOWN: ["unknown", "unbekannt"],
  HEALTH_STATE_OK: ["in order", "in Ordnung"],
  HEALTH_STATE_ERROR: ["faulty", "gestört"],
});

export const conveyorInstallation = enumModel("ConveyorInstallation", installationStateNames, {
  INSTALLATION_STATE_UNKNOWN: ["unknown", "unbekannt"],
  INSTALLATION_STATE_INSTALLED: ["installed", "eingebaut"],
  INSTALLATION_STATE_NOT_INSTALLED: ["not installed", "nicht eingebaut"],
});

const outcomeNames = [
  "IDLE",
  "ACCEPTED",
  "SENT",
  "SUCCEEDED",
  "REFUSED",
  "EXPIRED",
  "UNKNOWN",
  "PROBABLY_SUCCEEDED",
  "CHECKED",
] as const;

/** `Outcome` by number (docs/opcua-reference.md, The numbers of every enumeration). */
export const slotOutcome = enumModel("SlotOutcome", outcomeNames, {
  IDLE: ["no command yet", "noch kein Befehl"],
  ACCEPTED: ["recorded; not final", "aufgezeichnet; nicht endgültig"],
  SENT: ["sent; not final", "gesendet; nicht endgültig"],
  SUCCEEDED: ["the robot took the command", "der Roboter hat den Befehl angenommen"],
  REFUSED: ["it was not done: see ErrorId", "nicht ausgeführt: siehe ErrorId"],
  EXPIRED: ["it was never sent", "nie gesendet"],
  UNKNOWN: [
    "the robot may have acted, or may act later: look at it first",
    "der Roboter hat vielleicht gehandelt, oder tut es noch: erst nachsehen",
  ],
  PROBABLY_SUCCEEDED: [
    "what was seen of the robot says that it took the command",
    "was vom Roboter zu sehen war, spricht dafür, dass er den Befehl angenommen hat",
  ],
  CHECKED: ["a dry run: it was checked, and not sent", "ein Probelauf: geprüft und nicht gesendet"],
});

const operations: Readonly<Record<number, Meaning>> = {
  0: ["none", "keine"],
  ...Object.fromEntries(
    [...missionOperations, ...chainOperations].map(({ number, meaning }) => [number, meaning]),
  ),
};

export const missionOperation = numberedModel("MissionOperation", operations);

export const stationOperation = numberedModel("StationOperation", {
  ...operations,
  40: ["turn or stop a conveyor", "ein Förderband drehen oder anhalten"],
  50: ["take the lease of the robot", "den Roboter belegen"],
  51: ["release the lease", "die Belegung aufheben"],
  52: ["end another's lease (engineers)", "eine fremde Belegung beenden (Engineer)"],
});

const motorCommands = {
  0: ["none", "keiner"],
  1: ["stop", "anhalten"],
  2: ["clockwise", "im Uhrzeigersinn"],
  3: ["counter-clockwise", "gegen den Uhrzeigersinn"],
} as const;

export const motorCommand = numberedModel("MotorCommand", motorCommands);

export const stationMotorCommand = numberedModel("StationMotorCommand", {
  ...motorCommands,
  4: ["load, where the station says how", "beladen, wenn die Station sagt, wie"],
  5: ["unload, where the station says how", "entladen, wenn die Station sagt, wie"],
});
