import type { StatusCode } from "node-opcua";
import { type Battery, batteryStateNames, chargeMethodNames } from "../../domain/battery.ts";
import { codeNumber } from "../../domain/coded.ts";
import { batteryTags } from "./model/battery.ts";
import type { Folder, NodeBuilder } from "./node-builder.ts";
import type { TagTimes } from "./node-opcua/tag.ts";

/** A robot's `Battery` folder. */
export interface BatteryTags {
  show(battery: Battery, status: StatusCode, times: TagTimes): void;
  fail(status: StatusCode, times: TagTimes): void;
}

/** Adds the folder under a robot. */
export function addBatteryTags(builder: NodeBuilder, robot: Folder): BatteryTags {
  const folder = builder.folder(robot, "Battery");
  const tags = builder.tags(folder, batteryTags);

  return {
    show(battery, status, times) {
      tags.ChargePercent.set(battery.chargePercent, status, times);
      tags.State.set(codeNumber(batteryStateNames, battery.state), status, times);
      tags.ChargeMethod.set(codeNumber(chargeMethodNames, battery.chargeMethod), status, times);
      tags.Charging.set(battery.state === "STATE_CHARGING", status, times);
    },
    fail(status, times) {
      for (const tag of Object.values(tags)) tag.fail(status, times);
    },
  };
}
