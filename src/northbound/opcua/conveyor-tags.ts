import type { StatusCode } from "node-opcua";
import { codeNumber } from "../../domain/coded.ts";
import {
  type Conveyor,
  healthStateNames,
  installationStateNames,
  operationStateNames,
  payloadStateNames,
} from "../../domain/conveyor.ts";
import { conveyorTags } from "./model/conveyor.ts";
import type { Folder, NodeBuilder } from "./node-builder.ts";
import type { TagTimes } from "./node-opcua/tag.ts";

/** One folder of a cart's `Conveyors`, named by the conveyor's index. */
export interface ConveyorTags {
  show(conveyor: Conveyor, status: StatusCode, times: TagTimes): void;
  fail(status: StatusCode, times: TagTimes): void;
}

/** Adds the folder of conveyor `index`. */
export function addConveyorTags(builder: NodeBuilder, conveyors: Folder, index: number): ConveyorTags {
  const folder = builder.folder(conveyors, String(index));
  const tags = builder.tags(folder, conveyorTags);

  return {
    show(conveyor, status, times) {
      tags.Operation.set(codeNumber(operationStateNames, conveyor.operation), status, times);
      tags.Payload.set(codeNumber(payloadStateNames, conveyor.payload), status, times);
      tags.Health.set(codeNumber(healthStateNames, conveyor.health), status, times);
      tags.Installation.set(codeNumber(installationStateNames, conveyor.installation), status, times);
      tags.Rolling.set(conveyor.operation === "OPERATION_STATE_ROLLING", status, times);
      tags.Loaded.set(conveyor.payload === "PAYLOAD_STATE_LOADED", status, times);
    },
    fail(status, times) {
      for (const tag of Object.values(tags)) tag.fail(status, times);
    },
  };
}
