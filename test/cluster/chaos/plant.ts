import { freePorts } from "../../support/free-ports.ts";
import { startPlantBroker } from "../../support/plant-broker.ts";

/** What a plant has for both boxes: a broker, and the addresses of their OPC UA servers. */
export interface Plant {
  readonly brokerUrl: string;
  opcuaPort(box: string): number;
  /** Of the configuration of a box. */
  sections(box: string): Readonly<Record<string, unknown>>;
  close(): Promise<void>;
}

export async function openPlant(boxes: readonly string[]): Promise<Plant> {
  const broker = await startPlantBroker();
  const base = await freePorts(boxes.length);
  const portOf = (box: string) => base + boxes.indexOf(box);
  return {
    brokerUrl: broker.url,
    opcuaPort: portOf,
    sections: (box) => ({
      mqtt: { broker: broker.url, protocolVersion: 4, commands: { brokerEnforcesClientNames: true } },
      opcua: {
        listen: { host: "127.0.0.1", port: portOf(box) },
        insecureLoopback: { role: "engineer" },
      },
    }),
    close: broker.close,
  };
}
