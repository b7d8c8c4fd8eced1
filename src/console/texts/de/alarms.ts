import type { AlarmTextsByCode } from "../texts.ts";

/** Usual cause and advice of each alarm, and what robots do meanwhile. */
export const alarms: AlarmTextsByCode = {
  FLEET_LINK_DOWN: {
    cause: "das Netz, der Flottendienst oder die Zugangsdaten des Gateways",
    advice: "in Verbindungen nachsehen, Teil Flottendienst: Dort steht, was fehlschlägt und warum",
    robots: "bringen zu Ende, was sie haben; das Gateway erreicht keinen, auch nicht mit einem Stopp",
  },
  DUPLICATE_GATEWAY: {
    cause:
      "ein anderes Gateway benutzt dieselbe gateway.id, MQTT-Client-ID oder denselben Sparkplug-Knoten an diesem Broker",
    advice: "eines der beiden anhalten oder ihm einen eigenen Namen geben; der Text sagt, welchen",
    robots: "fahren auch auf Befehle des anderen, wenn beide dieselbe Flotte bedienen",
  },
  QUORUM_LOST: {
    cause: "zwei der drei Mitglieder von etcd sind aus, oder dieses Gerät ist von ihnen getrennt",
    advice:
      "etcd auf einem zweiten Rechner starten und das Netz zwischen den dreien prüfen; Stopps gehen solange durch",
    robots: "bringen zu Ende, was sie haben; Starts gehen nicht hinaus, Stopps schon",
  },
  FENCE_FAILED: {
    cause:
      "der Befehl aus cluster.fence ist gescheitert oder hängt, das bisher führende Gerät kann Roboter noch erreichen",
    advice:
      "prüfen, dass das genannte Gerät aus ist, dann auf dem anderen fleetgate fence-confirm mit seinem Namen aufrufen; Stopps gehen solange durch",
    robots: "bringen zu Ende, was sie haben; Starts gehen nicht hinaus, Stopps schon",
  },
  RECORDS_LOST: {
    cause: "die Aufzeichnung der gesendeten Befehle ist beschädigt, fehlt oder war nicht in der Sicherung",
    advice:
      "nach den Robotern sehen, Programme anhalten, die alte Befehle wiederholen, dann mit fleetgate journal reset bestätigen; Stopps gehen solange durch",
    robots: "bringen zu Ende, was sie haben; Starts gehen nicht hinaus, Stopps schon",
  },
  RECORD_UNREADABLE: {
    cause:
      "eine neuere Version hat den genannten Eintrag in etcd geschrieben, oder etwas, das kein Gateway ist",
    advice:
      "beiden Geräten die neuere Version geben; gibt es keine, nach den Robotern sehen, jeden genannten Schlüssel löschen (etcdctl del) und nachsehen, wer ihn geschrieben hat",
    robots:
      "es geht weiter, solange ein Gerät führt, das vorher schon geführt hat; kein Gerät beginnt zu führen",
  },
  DISK_FULL: {
    cause: "die Platte von gateway.dataDir nimmt nichts mehr auf",
    advice: "auf dieser Platte Platz schaffen; bis dahin werden Befehle abgelehnt, die bewegen oder ändern",
    robots: "bringen zu Ende, was sie haben; Starts und Änderungen werden abgelehnt, Stopps gehen hinaus",
  },
  OUTCOME_UNKNOWN: {
    cause: "die Antwort des Dienstes ging verloren, und nichts zeigt, ob der Befehl gewirkt hat",
    advice:
      "den Roboter sperren, hingehen und nachsehen, dann quittieren, die Sperre aufheben und neu senden",
    robots: "der Roboter kann fahren, jetzt oder später: fernbleiben, bis nachgesehen ist",
  },
  CONVEYOR_NOT_STOPPED: {
    cause:
      "ein Förderband wurde über das Gateway gestartet und soll stoppen (der Text sagt, warum), und nichts zeigt, dass es steht",
    advice:
      "nach dem Förderband sehen und es am Roboter stoppen; das Gateway sendet Stopps, bis es sichtbar steht",
    robots: "das Förderband kann sich noch drehen, der Roboter noch fahren: fernbleiben",
  },
  ROBOT_EXCEPTION: {
    cause: "der Roboter meldet eigene Störungen",
    advice: "nach dem Roboter sehen; sein Handbuch erklärt die Codes",
    robots: "der Roboter kann von selbst weiterfahren: fernbleiben",
  },
  CONVEYOR_ERROR: {
    cause: "ein Förderband des Roboters meldet einen Fehler",
    advice: "nach dem Förderband sehen: ein Stau, ein Not-Halt oder eine Last über seiner Kante",
    robots: "der Roboter kann noch fahren, das Förderband sich drehen: fernbleiben",
  },
  BATTERY_CRITICAL: {
    cause: "der Roboter wurde nicht rechtzeitig geladen",
    advice: "jetzt laden; ein leerer Roboter muss geschoben werden",
    robots: "der Roboter kann fahren, bis er leer ist",
  },
  NO_STANDBY: {
    cause: "das Gateway des anderen Geräts läuft nicht, ist von etcd getrennt oder hat keinen Flottendienst",
    advice:
      "auf dem anderen Gerät fleetgate status aufrufen; bis es bereit ist, übernimmt niemand für dieses",
    robots: "wie sonst, bis dieses Gerät ausfällt",
  },
  STORE_SPACE: {
    cause: "etcd behält mehr, als es soll, oder seine Grenze ist klein",
    advice:
      "etcd verdichten und defragmentieren, wie docs/cluster.md sagt; ist es voll, geht kein Start hinaus",
    robots: "wie sonst, bis etcd voll ist",
  },
  MEMBER_LOST: {
    cause: "ein Rechner von etcd, oder etcd darauf, ist aus oder getrennt",
    advice: "etcd dort starten oder den Rechner ersetzen: Fällt noch einer aus, geht kein Start hinaus",
    robots: "wie sonst",
  },
  ROBOT_LOST: {
    cause: "der Roboter ist aus, außerhalb des Funknetzes oder dem Dienst unbekannt",
    advice: "hingehen und fernbleiben: er kann fahren; einschalten oder den Betreuer des Netzes rufen",
    robots: "der Roboter kann ungesehen fahren: fernbleiben; Starts werden abgelehnt, Stopps gehen hinaus",
  },
  MISSION_FAILED: {
    cause: "der Roboter hat seine Mission aufgegeben",
    advice:
      "auf der Seite des Roboters Störung und Missionen lesen, nach Weg und Ziel sehen, dann noch einmal schicken",
    robots: "er hat aufgegeben und nimmt eine andere Mission an: Sie dürfen ihn schicken",
  },
  FAILED_OVER: {
    cause: "das führende Gerät ist ausgefallen oder war von etcd oder vom Flottendienst getrennt",
    advice: "herausfinden, was jenem Gerät fehlt, bevor es gebraucht wird, dann quittieren",
    robots: "wie sonst; einer, dessen Befehl im Zweifel ist, nimmt keinen Start",
  },
  CONFIG_DIFFERS: {
    cause: "eines von zwei Geräten wurde geändert oder aktualisiert, das andere nicht",
    advice:
      "beiden Geräten dieselbe Konfiguration und Version geben; nur wenige Schlüssel sind je Gerät verschieden",
    robots: "wie sonst",
  },
  CLOCK_SKEW: {
    cause: "dieser Rechner oder der Flottendienst hat keinen Zeitserver oder einen anderen",
    advice: "die Uhr dieses Rechners stellen; bis dahin Befehlen expires_in_ms geben, nicht expires_at",
    robots: "wie sonst; ein Befehl mit expires_at kann zu früh verfallen",
  },
  BUFFER_DROPPING: {
    cause: "der MQTT-Broker oder ein OPC-UA-Client nimmt weniger ab, als kommt, oder ist zu lange weg",
    advice:
      "in Verbindungen nachsehen: Dort steht, welche Schlange etwas verwirft; nach ihrem Empfänger sehen",
    robots: "wie sonst",
  },
  TOKEN_NOT_RENEWED: {
    cause: "der Flottendienst gibt kein neues Token: seine HTTPS-Seite oder der API-Schlüssel",
    advice:
      "den Betreuer des Flottendienstes fragen, ob der API-Schlüssel noch gilt; in Verbindungen steht, warum",
    robots: "wie sonst, bis es endet, dann wie bei FLEET_LINK_DOWN",
  },
  BATTERY_LOW: {
    cause: "der Roboter hat lange gearbeitet, ohne zu laden",
    advice: "bald zum Laden schicken",
    robots: "der Roboter kann fahren, bis er leer ist",
  },
  FOREIGN_MISSIONS: {
    cause: "ein anderer Client des Flottendienstes schickt dem Roboter Missionen, etwa ein zweites Gateway",
    advice: "herausfinden, welches andere Programm einen API-Schlüssel für diesen Roboter hat",
    robots: "der Roboter fährt auch für ein anderes Programm",
  },
  ROBOT_CLOCK: {
    cause: "der Roboter hat keinen Zeitserver oder seine Zeit verloren",
    advice: "die Uhr des Roboters stellen; bis dahin tragen seine Werte die Zeit ihres Empfangs",
    robots: "wie sonst",
  },
  CERTIFICATE_EXPIRES: {
    cause: "ein Zertifikat läuft bald ab",
    advice: "das genannte Zertifikat vor diesem Tag erneuern",
    robots: "wie sonst",
  },
};
