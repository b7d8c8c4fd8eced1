import type { StatusCode } from "node-opcua";
import { type Battery, batteryStateNames, chargeMethodNames } from "../../domain/battery.ts";
import { codeNumber } from "../../domain/coded.ts";
import { createEnumTable } from "./enumeration.ts";
import type { Folder, NodeBuilder } from "./node-builder.ts";
import type { TagTimes } from "./node-opcua/tag.ts";

const stateTable = createEnumTable("BatteryState", batteryStateNames);
const methodTable = createEnumTable("ChargeMethod", chargeMethodNames);

/** A robot's `Battery` folder. */
export interface BatteryTags {
  show(battery: Battery, status: StatusCode, times: TagTimes): void;
  fail(status: StatusCode, times: TagTimes): void;
}

/** Adds the folder under a robot. */
export function addBatteryTags(builder: NodeBuilder, robot: Folder): BatteryTags {
  const folder = builder.folder(robot, "Battery");
  const chargePercent = builder.tag(folder, "ChargePercent", "Int32");
  const state = builder.enumeration(folder, "State", stateTable);
  const chargeMethod = builder.enumeration(folder, "ChargeMethod", methodTable);
  const charging = builder.tag(folder, "Charging", "Boolean");

  return {
    show(battery, status, times) {
      chargePercent.set(battery.chargePercent, status, times);
      state.set(codeNumber(batteryStateNames, battery.state), status, times);
      chargeMethod.set(codeNumber(chargeMethodNames, battery.chargeMethod), status, times);
      charging.set(battery.state === "STATE_CHARGING", status, times);
    },
    fail(status, times) {
      for (const tag of [chargePercent, state, chargeMethod, charging]) tag.fail(status, times);
    },
  };
}
