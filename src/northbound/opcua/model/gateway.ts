import { alarmsMember } from "./alarms.ts";
import { conditionTypes } from "./conditions.ts";
import { holdTags } from "./hold.ts";
import type { ObjectModel, TagTable } from "./member.ts";

export const gatewayTags = {
  Heartbeat: {
    type: "Int32",
    german: "Lebenszeichen",
    en: "Counts once a second, from 0 again after 32767",
    de: "Zählt jede Sekunde, nach 32767 wieder ab 0",
  },
  FleetLinkUp: {
    type: "Boolean",
    german: "Flottendienst verbunden",
    en: "The fleet service is reached",
    de: "Der Flottendienst ist erreichbar",
  },
  RobotCount: {
    type: "Int32",
    german: "Anzahl Roboter",
    en: "Robots under Robots",
    de: "Roboter unter Robots",
  },
  RobotsNotShown: {
    type: "Int32",
    german: "Nicht gezeigte Roboter",
    en: "Robots that are too many to be shown (opcua.limits.maxRobots)",
    de: "Roboter, für die kein Platz ist (opcua.limits.maxRobots)",
  },
  Version: { type: "String", german: "Version", en: "Version of Fleetgate", de: "Version von Fleetgate" },
  SessionId: {
    type: "String",
    german: "Sitzungskennung",
    en: "Id of this run of the gateway",
    de: "Kennung dieses Laufs des Gateways",
  },
  ConfigHash: {
    type: "String",
    german: "Prüfsumme der Konfiguration",
    en: "Changes with the configuration",
    de: "Ändert sich mit der Konfiguration",
  },
  ModelHash: {
    type: "Int32",
    german: "Prüfsumme des Modells",
    en: "The number that fleetgate export opcua prints for what you have imported; another one: import again",
    de: "Die Nummer, die fleetgate export opcua für das Importierte ausgibt; eine andere: neu importieren",
  },
  StartTime: {
    type: "DateTime",
    german: "Startzeit",
    en: "When the gateway was started",
    de: "Wann das Gateway gestartet wurde",
  },
} as const satisfies TagTable;

export const gatewayType: ObjectModel = {
  name: "GatewayType",
  german: "Gateway",
  en: "What the gateway says of itself; its hold is for all robots",
  de: "Was das Gateway von sich sagt; seine Sperre gilt für alle Roboter",
  conditions: [conditionTypes.alarm, conditionTypes.certificate],
  tags: { ...holdTags, ...gatewayTags },
  objects: { Alarms: alarmsMember },
};

export const clusterTags = {
  Active: {
    type: "Boolean",
    german: "Aktiv",
    en: "This gateway leads its cluster, and takes every command; else it takes stops only",
    de: "Dieses Gateway führt seinen Verbund und nimmt jeden Befehl an, sonst nur Halt-Befehle",
  },
  Member: {
    type: "String",
    german: "Mitglied",
    en: "Name of this gateway among the members of the cluster",
    de: "Name dieses Gateways unter den Mitgliedern des Verbunds",
  },
  Epoch: {
    type: "Double",
    german: "Epoche",
    en: "Higher with each leader of the cluster; 0: no leader is known",
    de: "Mit jedem führenden Gateway des Verbunds höher; 0: keines ist bekannt",
  },
} as const satisfies TagTable;

/** The type of the object of a gateway that is a member of a cluster. */
export const clusterGatewayType: ObjectModel = {
  name: "ClusterGatewayType",
  german: "Gateway in einem Verbund",
  en: "A gateway that is one of two which are one",
  de: "Ein Gateway, das mit einem anderen eines ist",
  base: gatewayType,
  tags: clusterTags,
};
