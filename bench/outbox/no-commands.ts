import type { MqttParts } from "../../src/northbound/mqtt/link.ts";

/** What commands from MQTT would reach. The bench sends none, so each of them fails. */
export const noCommands: Pick<MqttParts, "commander" | "audit" | "stations" | "holds" | "alarms"> = {
  commander: { submit: unexpected, check: unexpected, read: unexpected },
  audit: { refused: unexpected },
  stations: {
    ask: unexpected,
    release: unexpected,
    heartbeat: unexpected,
    override: unexpected,
    leaseOf: () => null,
    leased: unexpected,
  },
  holds: { hold: unexpected, refusedName: unexpected, holdState: unexpected, all: unexpected },
  alarms: { acknowledge: unexpected, putOutOfService: unexpected, storeProblem: unexpected },
};

function unexpected(): never {
  throw new Error("the bench sends no commands");
}
