import { conveyorHealth, conveyorInstallation, conveyorOperation, conveyorPayload } from "./enums.ts";
import type { ObjectModel, TagTable } from "./member.ts";

export const conveyorTags = {
  Operation: {
    type: "Int32",
    enumeration: conveyorOperation,
    german: "Bewegung",
    en: "Whether the conveyor moves",
    de: "Ob sich das Förderband bewegt",
  },
  Payload: {
    type: "Int32",
    enumeration: conveyorPayload,
    german: "Beladung",
    en: "Whether something lies on the conveyor",
    de: "Ob etwas auf dem Förderband liegt",
  },
  Health: {
    type: "Int32",
    enumeration: conveyorHealth,
    german: "Verfassung",
    en: "Whether the conveyor is in order",
    de: "Ob das Förderband in Ordnung ist",
  },
  Installation: {
    type: "Int32",
    enumeration: conveyorInstallation,
    german: "Einbau",
    en: "Whether the conveyor is installed",
    de: "Ob das Förderband eingebaut ist",
  },
  Rolling: {
    type: "Boolean",
    german: "Läuft",
    en: "Operation is rolling (1)",
    de: "Operation ist läuft (1)",
  },
  Loaded: {
    type: "Boolean",
    german: "Beladen",
    en: "Payload is loaded (1)",
    de: "Payload ist beladen (1)",
  },
} as const satisfies TagTable;

const conveyorType: ObjectModel = {
  name: "ConveyorType",
  german: "Förderband",
  en: "One conveyor of a cart",
  de: "Ein Förderband eines Carts",
  tags: conveyorTags,
};

export const conveyorsType: ObjectModel = {
  name: "ConveyorsType",
  german: "Förderbänder",
  en: "The conveyors of a cart, by index",
  de: "Die Förderbänder eines Carts, nach Index",
  tags: {},
  each: {
    name: "<Conveyor>",
    model: conveyorType,
    german: "Förderband",
    en: "The conveyor of this index: a logical position, the uppermost or the front one first",
    de: "Das Förderband dieses Index: ein logischer Platz, das oberste oder vorderste zuerst",
  },
};
