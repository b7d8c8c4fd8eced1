import type { TestRobot } from "../../contract/contract-harness.ts";
import { type ConveyorLine, openConveyorLine } from "./conveyor-line.ts";
import { type MqttClient, openMqttClient } from "./mqtt-client.ts";
import type { Plant } from "./plant.ts";
import { boxNames, type Scene } from "./scene.ts";
import { createSlotLine, type SlotLine } from "./slot-line.ts";

/** The clients of a plant, over all rounds. */
export interface PlantClients {
  readonly mqtt: MqttClient;
  /** A PLC for each robot, or for some. */
  readonly lines: ReadonlyMap<string, SlotLine>;
  readonly conveyor: ConveyorLine;
  close(): Promise<void>;
}

/** Of all commands a second, for each PLC. Its reads cost more than its commands. */
const RATE_OF_LINE = 3.5;

export async function openPlantClients(
  plant: Plant,
  { robots, simulator }: Scene,
  cart: TestRobot,
  rate: number,
): Promise<PlantClients> {
  const mqtt = await openMqttClient(plant.brokerUrl);
  const urls = boxNames.map((box) => `opc.tcp://localhost:${plant.opcuaPort(box)}`);
  const commanded = robots.slice(0, Math.ceil(rate / RATE_OF_LINE));
  const lines = new Map(commanded.map(({ id }) => [id, createSlotLine(urls, id)]));
  const conveyor = openConveyorLine(simulator, mqtt, cart);
  return {
    mqtt,
    lines,
    conveyor,
    async close() {
      conveyor.close();
      await Promise.all([...lines.values()].map((line) => line.close()));
      await mqtt.close();
    },
  };
}
