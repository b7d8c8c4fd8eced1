import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listenMqtt, type MqttEar } from "../e2e/mqtt-ear.ts";
import { startPlantBroker } from "../support/plant-broker.ts";
import { type RunningSimulator, startSimulator } from "../support/simulator.ts";
import { type Daemon, READY, startDaemon, writeConfiguration } from "./daemon.ts";

const ROBOT = "cart-01";

export const toStation = (destinationId: string) => ({
  robotId: ROBOT,
  mission: { baseMission: { navigateMission: { goal: { destinationId } } } },
});

export const belt = (command: "CW" | "STOP") => ({
  robotId: ROBOT,
  commands: [{ index: 1, command: `COMMAND_CONVEYOR_MOTOR_${command}` }],
});

export interface PartHealth {
  readonly state: string;
  readonly detail?: string;
  readonly figures?: Readonly<Record<string, number>>;
}

/** The built gateway with a broker of the plant and a simulated service; its machine is about to fail. */
export interface DegradedHarness {
  /** Where all files of the gateway are. */
  readonly folder: string;
  readonly simulator: RunningSimulator;
  readonly ear: MqttEar;
  readonly brokerUrl: string;
  start(nodeOptions?: readonly string[]): Promise<Daemon>;
  /** What health says of a part, once it is as wanted. */
  part(name: string, isWanted: (part: PartHealth) => boolean): Promise<PartHealth>;
  /** Resolves when a new charge of the battery has gone from the service to the broker. */
  valuesGoOn(percent: number): Promise<void>;
  /** The operations that the service has received since its record had this number. */
  received(since: number): readonly string[];
  seq(): number;
  close(): Promise<void>;
}

/** @param folder for all files of the gateway; one of its own unless told */
export async function openDegradedHarness(
  folder?: string,
  sections: Readonly<Record<string, unknown>> = {},
): Promise<DegradedHarness> {
  const own = folder === undefined ? await mkdtemp(join(tmpdir(), "fleetgate-degraded-")) : null;
  const simulator = await startSimulator({ timeFactor: 5 });
  const broker = await startPlantBroker();
  const ear = await listenMqtt(broker.url, "scada", "fleetgate/degraded");
  const place = folder ?? own ?? "";
  const config = await writeConfiguration(
    place,
    "degraded",
    simulator.endpoints,
    [ROBOT],
    broker.url,
    sections,
  );
  const daemons: Daemon[] = [];
  return {
    folder: place,
    simulator,
    ear,
    brokerUrl: broker.url,
    async start(nodeOptions) {
      const from = ear.received.entries.length;
      const daemon = startDaemon(config, nodeOptions);
      daemons.push(daemon);
      await daemon.says(READY);
      await ear.on(`robots/${ROBOT}/availability`, (text) => text === "good", from);
      return daemon;
    },
    async part(name, isWanted) {
      const partOf = (text: string) =>
        (JSON.parse(text) as { parts?: Record<string, PartHealth> }).parts?.[name];
      // The newest counts: what does not change is not told again soon.
      const newest = ear.received.entries.findLastIndex(({ topic }) => topic === "health");
      const { text } = await ear.on(
        "health",
        (each) => {
          const part = partOf(each);
          return part !== undefined && isWanted(part);
        },
        Math.max(0, newest),
      );
      return partOf(text) ?? { state: "missing" };
    },
    async valuesGoOn(percent) {
      const from = ear.received.entries.length;
      simulator.control.happen({ kind: "battery", robotId: ROBOT, percent: percent + 0.9 });
      const shown = new RegExp(`"(charge_)?percent\\w*":${percent}`);
      await ear.on(`robots/${ROBOT}/battery`, (text) => shown.test(text), from);
    },
    received: (since) =>
      simulator.control
        .record(since)
        .flatMap(({ fact }) => (fact.what === "received" ? [fact.operation] : [])),
    seq: () => simulator.control.record(0).at(-1)?.seq ?? 0,
    async close() {
      for (const daemon of daemons) await daemon.kill();
      await ear.close();
      await broker.close();
      await simulator.stop();
      if (own !== null) await rm(own, { recursive: true, force: true });
    },
  };
}
