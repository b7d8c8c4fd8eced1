import type { NamedText } from "./text.ts";

/** The operations of the fleet service in German, by their names: the name and a description. */
export const germanOperations: Readonly<Record<string, Omit<NamedText, "en">>> = {
  CreateMission: { german: "Mission beginnen", de: "Gibt einem Roboter, der keine Mission fährt, eine." },
  AppendMission: {
    german: "Mission anhängen",
    de: "Gibt einem Roboter eine weitere Mission, hinter denen, die er hat.",
  },
  CreateMissionWorkflow: {
    german: "Workflow beginnen",
    de: "Gibt einem Roboter, der keine Mission fährt, eine fertige Folge von Missionen, den Heimweg eingeschlossen.",
  },
  UpdateMission: {
    german: "Mission ändern",
    de: "Bricht eine Mission ab, hält sie an, setzt sie fort oder beendet sie.",
  },
  SkipGoal: { german: "Ziel überspringen", de: "Überspringt das aktuelle Ziel der Mission eines Roboters." },
  ChargeRobot: {
    german: "Roboter laden",
    de: "Schickt einen Roboter zum Laden, wie voll seine Batterie auch ist.",
  },
  GetConveyorIndex: { german: "Förderbänder lesen", de: "Liest, welche Förderbänder ein Roboter hat." },
  ControlConveyor: {
    german: "Förderbänder steuern",
    de: "Startet Förderbänder eines Roboters oder hält sie an.",
  },
  CreateWebhook: {
    german: "Webhook anlegen",
    de: "Lässt den Dienst Ereignisse von Robotern an eine Adresse senden.",
  },
  ListWebhooks: { german: "Webhooks lesen", de: "Liest die vorhandenen Webhooks." },
  DeleteWebhook: { german: "Webhook entfernen", de: "Entfernt einen Webhook." },
  AddTaskChain: {
    german: "Aufgabenkette beginnen",
    de: "Gibt einem Roboter, nach seiner Nummer, Aufträge; mit Nummer 0 einem, den der Dienst auswählt.",
  },
  ReassignTaskByAmrId: {
    german: "Aufgaben eines Roboters ersetzen",
    de: "Ersetzt die Aufträge, die ein Roboter noch vor sich hat, ab `sequence` (der erste ist 1).",
  },
  ReassignTaskByTaskChainId: {
    german: "Aufgaben einer Kette ersetzen",
    de: "Ersetzt die Aufträge einer Kette, die noch zu tun sind, ab `sequence` (der erste ist 1).",
  },
  FinishTaskChain: {
    german: "Aufgabe bestätigen",
    de: "Bestätigt den Auftrag, an dem eine Kette auf die Bestätigung wartet.",
  },
  CancelTaskChain: {
    german: "Aufgabenkette abbrechen",
    de: "Beendet eine Kette; mit `force` auch mitten in einem Auftrag.",
  },
  QueryTaskChain: { german: "Aufgabenketten lesen", de: "Liest Ketten und wie weit sie sind." },
  GetOnlineRobots: {
    german: "Roboter lesen, die online sind",
    de: "Liest, welche Roboter online sind, und wo.",
  },
  PauseRobot: { german: "Roboter pausieren", de: "Hält einen Roboter an; mit `stopNow` sofort." },
  ResumeRobot: { german: "Roboter fortsetzen", de: "Lässt einen angehaltenen Roboter weiterfahren." },
  GetMap: { german: "Karte lesen", de: "Liest die Punkte einer Karte." },
};
