// Stands in the place of the gateway's meter, which gets nothing while the switch is off.
import type * as Original from "../../../src/northbound/web/metrics/meter.ts";
import { originalOf } from "./original.ts";
import { isHandedOver } from "./switch.ts";

const original = await originalOf<typeof Original>(import.meta.url);

export const createMeter: typeof Original.createMeter = (operations) => {
  const meter = original.createMeter(operations);
  return {
    metrics: meter.metrics,
    commandEnded(command) {
      if (isHandedOver()) meter.commandEnded(command);
    },
    received(update, events) {
      if (isHandedOver()) meter.received(update, events);
    },
  };
};
