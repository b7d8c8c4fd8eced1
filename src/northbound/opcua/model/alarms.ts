import type { ObjectMember, ObjectModel, TagTable } from "./member.ts";

/** How many alarms `Active` shows: the most urgent ones. */
export const ALARMS_SHOWN = 16;

export const alarmTags = {
  Active: {
    type: "String",
    length: ALARMS_SHOWN,
    german: "Anstehende Meldungen",
    en: "The alarms that stand, the most urgent first: id, space, text",
    de: "Die anstehenden Meldungen, die dringendste zuerst: Kennung, Leerzeichen, Text",
  },
  Count: {
    type: "Int32",
    german: "Anzahl",
    en: "How many alarms are active, or not acknowledged",
    de: "Wie viele Meldungen anstehen oder nicht quittiert sind",
  },
  HighestSeverity: {
    type: "Int32",
    german: "Höchste Dringlichkeit",
    en: "The highest severity of them, 1 to 1000; 0: there is none",
    de: "Die höchste Dringlichkeit davon, 1 bis 1000; 0: es steht keine an",
  },
  Ack: {
    type: "String",
    isWritable: true,
    german: "Quittieren",
    en: "Write the id of an alarm to acknowledge it. Shows the last id that was taken",
    de: "Kennung einer Meldung schreiben, um sie zu quittieren. Zeigt die zuletzt angenommene Kennung",
  },
} as const satisfies TagTable;

const alarmsType: ObjectModel = {
  name: "AlarmsType",
  german: "Meldungen",
  en: "The alarms that stand: active, or not acknowledged",
  de: "Was ansteht: aktiv oder nicht quittiert",
  tags: alarmTags,
};

export const robotAlarmTags = {
  ...alarmTags,
  OutOfService: {
    type: "Boolean",
    isWritable: true,
    german: "Außer Betrieb",
    en: "Write TRUE while the robot is out of service: its alarms rest. Commands are not touched",
    de: "TRUE schreiben, solange der Roboter außer Betrieb ist: seine Meldungen ruhen. Kommandos bleiben unberührt",
  },
} as const satisfies TagTable;

const robotAlarmsType: ObjectModel = {
  name: "RobotAlarmsType",
  german: "Meldungen eines Roboters",
  en: "The alarms of a robot that stand",
  de: "Die anstehenden Meldungen eines Roboters",
  base: alarmsType,
  tags: { OutOfService: robotAlarmTags.OutOfService },
};

/** `Alarms` of a robot. */
export const robotAlarmsMember: ObjectMember = {
  model: robotAlarmsType,
  german: "Meldungen",
  en: "The alarms of the robot that stand",
  de: "Die anstehenden Meldungen des Roboters",
};

/** `Alarms` of a station and of the gateway. */
export const alarmsMember: ObjectMember = {
  model: alarmsType,
  german: "Meldungen",
  en: "The alarms that stand",
  de: "Die anstehenden Meldungen",
};
