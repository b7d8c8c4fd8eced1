import { batteryStateNames, chargeMethodNames } from "../../../domain/robot.ts";
import { enumModel } from "./enum-model.ts";
import { type ObjectModel, percent, type TagTable } from "./member.ts";

const batteryState = enumModel("BatteryState", batteryStateNames, {
  STATE_UNKNOWN: ["unknown", "unbekannt"],
  STATE_CHARGING: ["charging", "lädt"],
  STATE_DISCHARGING: ["discharging", "entlädt"],
  STATE_FULL: ["full", "voll"],
});

const chargeMethod = enumModel("ChargeMethod", chargeMethodNames, {
  CHARGE_METHOD_UNKNOWN: ["unknown", "unbekannt"],
  CHARGE_METHOD_NONE: ["none", "keine"],
  CHARGE_METHOD_WIRED: ["by cable", "per Kabel"],
  CHARGE_METHOD_CONTACT: ["by contacts", "über Kontakte"],
});

export const batteryTags = {
  ChargePercent: {
    type: "Int32",
    unit: percent,
    range: [0, 100],
    isHistorized: true,
    german: "Ladezustand",
    en: "How full the battery is",
    de: "Wie voll die Batterie ist",
  },
  State: {
    type: "Int32",
    enumeration: batteryState,
    german: "Zustand",
    en: "What the battery does",
    de: "Was die Batterie tut",
  },
  ChargeMethod: {
    type: "Int32",
    enumeration: chargeMethod,
    german: "Ladeart",
    en: "How the battery is being charged",
    de: "Wie die Batterie geladen wird",
  },
  Charging: {
    type: "Boolean",
    german: "Lädt",
    en: "State is charging (1)",
    de: "State ist lädt (1)",
  },
} as const satisfies TagTable;

export const batteryType: ObjectModel = {
  name: "BatteryType",
  german: "Batterie",
  en: "The battery of a robot, as its battery stream tells",
  de: "Die Batterie eines Roboters, wie ihr Datenstrom sie meldet",
  tags: batteryTags,
};
