/** What the operations of the fleet service do, in German, by their names. */
export const germanOperations: Readonly<Record<string, string>> = {
  CreateMission: "Gibt einem Roboter, der keine Mission fährt, eine.",
  AppendMission: "Gibt einem Roboter eine weitere Mission, hinter denen, die er hat.",
  CreateMissionWorkflow:
    "Gibt einem Roboter, der keine Mission fährt, eine fertige Folge von Missionen, den Heimweg eingeschlossen.",
  UpdateMission: "Bricht eine Mission ab, hält sie an, setzt sie fort oder beendet sie.",
  SkipGoal: "Überspringt das aktuelle Ziel der Mission eines Roboters.",
  ChargeRobot: "Schickt einen Roboter zum Laden, wie voll seine Batterie auch ist.",
  GetConveyorIndex: "Liest, welche Förderbänder ein Roboter hat.",
  ControlConveyor: "Startet Förderbänder eines Roboters oder hält sie an.",
  CreateWebhook: "Lässt den Dienst Ereignisse von Robotern an eine Adresse senden.",
  ListWebhooks: "Liest die vorhandenen Webhooks.",
  DeleteWebhook: "Entfernt einen Webhook.",
  AddTaskChain:
    "Gibt einem Roboter, nach seiner Nummer, Aufträge; mit Nummer 0 einem, den der Dienst auswählt.",
  ReassignTaskByAmrId: "Ersetzt die Aufträge, die ein Roboter noch vor sich hat.",
  ReassignTaskByTaskChainId: "Ersetzt die Aufträge einer Kette, die noch zu tun sind.",
  FinishTaskChain: "Bestätigt den Auftrag, an dem eine Kette auf die Bestätigung wartet.",
  CancelTaskChain: "Beendet eine Kette; mit `force` auch mitten in einem Auftrag.",
  QueryTaskChain: "Liest Ketten und wie weit sie sind.",
  GetOnlineRobots: "Liest, welche Roboter online sind, und wo.",
  PauseRobot: "Hält einen Roboter an; mit `stopNow` sofort.",
  ResumeRobot: "Lässt einen angehaltenen Roboter weiterfahren.",
  GetMap: "Liest die Punkte einer Karte.",
};
