import type { TagTable } from "./member.ts";

/** How many users `HeldBy` shows: those that have held longest. */
export const HOLDERS_SHOWN = 8;

/** Of a robot, or under `Gateway` of all robots. */
export const holdTags = {
  Hold: {
    type: "Boolean",
    isWritable: true,
    german: "Sperre",
    en: "Write TRUE as long as you want no movement. No safety function. Shows the last write of any user",
    de: "TRUE schreiben, solange sich nichts bewegen soll. Keine Sicherheitsfunktion. Zeigt das zuletzt Geschriebene",
  },
  HoldRelease: {
    type: "String",
    isWritable: true,
    isForEngineers: true,
    german: "Sperre aufheben",
    en: "Engineers: lifts the hold of the user that is written, as HeldBy shows it",
    de: "Engineer: hebt die Sperre des geschriebenen Benutzers auf, wie HeldBy ihn zeigt",
  },
  Held: {
    type: "Boolean",
    german: "Gesperrt",
    en: "A user wants no movement",
    de: "Ein Benutzer will keine Bewegung",
  },
  HeldBy: {
    type: "String",
    length: HOLDERS_SHOWN,
    german: "Gesperrt von",
    en: "The users that want no movement, as protocol and name; the longest first",
    de: "Die Benutzer, die keine Bewegung wollen, als Protokoll und Name; der älteste zuerst",
  },
  HoldStored: {
    type: "Boolean",
    german: "Sperre gespeichert",
    en: "FALSE while the disk has not taken a hold or its end: a restart might not know it",
    de: "FALSE, solange die Platte eine Sperre oder ihr Ende nicht angenommen hat: ein Neustart kennt es vielleicht nicht",
  },
} as const satisfies TagTable;
