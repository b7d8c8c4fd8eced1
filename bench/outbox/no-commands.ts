import type { MqttParts } from "../../src/northbound/mqtt/link.ts";

/** What commands from MQTT would reach. The bench sends none, so each of them fails. */
export const noCommands: Pick<MqttParts, "commander" | "acts"> = {
  commander: { submit: unexpected, check: unexpected, read: unexpected },
  acts: { run: unexpected, answer: unexpected },
};

function unexpected(): never {
  throw new Error("the bench sends no commands");
}
