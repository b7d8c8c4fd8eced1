import type { StatusCode } from "node-opcua";
import { codeNumber } from "../../domain/coded.ts";
import {
  type Conveyor,
  healthStateNames,
  installationStateNames,
  operationStateNames,
  payloadStateNames,
} from "../../domain/conveyor.ts";
import { createEnumTable } from "./enumeration.ts";
import type { Folder, NodeBuilder } from "./node-builder.ts";
import type { TagTimes } from "./node-opcua/tag.ts";

const operationTable = createEnumTable("ConveyorOperation", operationStateNames);
const payloadTable = createEnumTable("ConveyorPayload", payloadStateNames);
const healthTable = createEnumTable("ConveyorHealth", healthStateNames);
const installationTable = createEnumTable("ConveyorInstallation", installationStateNames);

/** One folder of a cart's `Conveyors`, named by the conveyor's index. */
export interface ConveyorTags {
  show(conveyor: Conveyor, status: StatusCode, times: TagTimes): void;
  fail(status: StatusCode, times: TagTimes): void;
}

/** Adds the folder of conveyor `index`. */
export function addConveyorTags(builder: NodeBuilder, conveyors: Folder, index: number): ConveyorTags {
  const folder = builder.folder(conveyors, String(index));
  const operation = builder.enumeration(folder, "Operation", operationTable);
  const payload = builder.enumeration(folder, "Payload", payloadTable);
  const health = builder.enumeration(folder, "Health", healthTable);
  const installation = builder.enumeration(folder, "Installation", installationTable);
  const rolling = builder.tag(folder, "Rolling", "Boolean");
  const loaded = builder.tag(folder, "Loaded", "Boolean");

  return {
    show(conveyor, status, times) {
      operation.set(codeNumber(operationStateNames, conveyor.operation), status, times);
      payload.set(codeNumber(payloadStateNames, conveyor.payload), status, times);
      health.set(codeNumber(healthStateNames, conveyor.health), status, times);
      installation.set(codeNumber(installationStateNames, conveyor.installation), status, times);
      rolling.set(conveyor.operation === "OPERATION_STATE_ROLLING", status, times);
      loaded.set(conveyor.payload === "PAYLOAD_STATE_LOADED", status, times);
    },
    fail(status, times) {
      for (const tag of [operation, payload, health, installation, rolling, loaded]) tag.fail(status, times);
    },
  };
}
