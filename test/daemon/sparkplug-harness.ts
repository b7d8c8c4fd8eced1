import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import type { MqttClient } from "mqtt";
import { endMosquitto, runMosquitto } from "../northbound/mqtt/mosquitto.ts";
import { freePorts } from "../support/free-ports.ts";
import { type RunningSimulator, startSimulator } from "../support/simulator.ts";
import { rebirthRequest } from "../support/sparkplug/edge-node.ts";
import { createForeignHost, type ForeignHost, type Shown } from "../support/sparkplug/foreign-host.ts";
import { recordDeliveries, startWireRelay } from "../support/sparkplug/relay.ts";
import { createRecording, type Recording, type WireEvent } from "../support/sparkplug/wire.ts";
import { type Daemon, READY, startDaemon, writeConfiguration } from "./daemon.ts";

export const groupId = "plant";
export const nodeId = "fleet";
const PRIMARY_HOST = "scada";

/** A gateway with its edge node on a recorded wire to a mosquitto, a primary host, and robots that drive. */
export interface SparkplugPlant {
  readonly recording: Recording;
  readonly simulator: RunningSimulator;
  readonly primaryHost: string;
  /** The broker ends as by a power cut, and is back after this time, without what it retained. */
  restartBroker(awayMs: number): Promise<void>;
  restartGateway(): Promise<void>;
  /** Ends it in order. */
  stopGateway(): Promise<void>;
  publishState(online: boolean, timestamp: number): Promise<unknown>;
  askRebirth(): Promise<unknown>;
  /** What a host knows by all that the edge node has published. */
  host(): ForeignHost;
}

/** @param protocolVersion of the edge node */
export async function startSparkplugPlant(
  folder: string,
  protocolVersion: 4 | 5,
  cleanups: Array<() => Promise<unknown>>,
): Promise<SparkplugPlant> {
  const port = await freePorts(1);
  let broker = await startBroker(folder, port);
  cleanups.push(() => endMosquitto(broker, "SIGKILL"));
  const recording = createRecording();
  const relay = await startWireRelay({
    recording,
    brokerPort: () => port,
    isEdgeNode: ({ clientId }) => clientId.endsWith("-sparkplug"),
  });
  cleanups.push(relay.close);
  const beside: MqttClient = await recordDeliveries(`mqtt://127.0.0.1:${port}`, recording);
  cleanups.push(() => beside.endAsync(true));
  const simulator = await startSimulator({ seed: 7, lively: "missions", timeFactor: 4 });
  cleanups.push(simulator.stop);
  const { endpoints } = simulator;
  const robots = simulator.control
    .robots()
    .flatMap(({ robotId, location }) => (endpoints.locations.includes(location) ? [robotId] : []));
  const config = await writeConfiguration(folder, "plant", endpoints, robots, "", {
    mqtt: {
      broker: `mqtt://127.0.0.1:${relay.port}`,
      protocolVersion,
      sparkplug: { groupId, nodeId, primaryHost: PRIMARY_HOST },
    },
  });
  let gateway = await startGateway(config, cleanups);
  const publish = (topic: string, payload: string | Buffer, retain: boolean) =>
    beside.publishAsync(`spBv1.0/${topic}`, payload, { qos: 1, retain });

  return {
    ...{ recording, simulator, primaryHost: PRIMARY_HOST },
    async restartBroker(awayMs) {
      await endMosquitto(broker, "SIGKILL");
      await new Promise((resolve) => setTimeout(resolve, awayMs));
      broker = await startBroker(folder, port);
    },
    async restartGateway() {
      await gateway.kill();
      gateway = await startGateway(config, cleanups);
    },
    async stopGateway() {
      await gateway.stop();
    },
    publishState: (online, timestamp) =>
      publish(`STATE/${PRIMARY_HOST}`, JSON.stringify({ online, timestamp }), true),
    askRebirth: () => publish(`${groupId}/NCMD/${nodeId}`, rebirthRequest(), false),
    host() {
      const host = createForeignHost(groupId, nodeId);
      for (const event of recording.events) if (event.kind === "publish") host.receive(event.message);
      return host;
    },
  };
}

async function startBroker(folder: string, port: number): Promise<ChildProcess> {
  const configuration = `listener ${port} 127.0.0.1\nset_tcp_nodelay true\nallow_anonymous true\n`;
  return runMosquitto(join(folder, "mosquitto.conf"), configuration);
}

async function startGateway(config: string, cleanups: Array<() => Promise<unknown>>): Promise<Daemon> {
  const started = startDaemon(config);
  cleanups.push(() => started.kill());
  await started.says(READY);
  return started;
}

/** How many events of the edge node's own, of this type, the recording has. */
export function countOf({ events }: Recording, type: string): number {
  return events.filter((event) => event.kind === "publish" && event.message.type === type).length;
}

export function isOfType(event: WireEvent, type: string): boolean {
  return event.kind === "publish" && event.message.type === type;
}

/** What a host shows that is not so in the simulated world; nothing, if all is well. */
export function differences(host: ForeignHost, simulator: RunningSimulator): readonly string[] {
  const robots = simulator.control.robots().filter(({ robotId }) => host.devices().includes(robotId));
  if (robots.length === 0) return ["the host knows no robot"];
  return robots.flatMap(({ robotId, battery, place, missions, currentIndex }) => {
    if (!host.isAlive(robotId)) return [`${robotId} is dead`];
    const shown = host.values(robotId);
    const mission = missions[currentIndex];
    const due: Readonly<Record<string, unknown>> = {
      "Info/RobotId": robotId,
      "Battery/ChargePercent": battery.percent,
      "Battery/Charging": battery.state === "charging",
      "Mission/Id": mission?.missionId ?? "",
      "Mission/State": mission === undefined ? "" : `STATE_${mission.status.toUpperCase()}`,
    };
    return [
      ...Object.entries(due).flatMap(([name, value]) => wrong(robotId, name, shown.get(name), value)),
      ...far(robotId, shown.get("Position/X"), place.x),
      ...far(robotId, shown.get("Position/Y"), place.y),
    ];
  });
}

function wrong(robotId: string, name: string, shown: Shown | undefined, due: unknown): readonly string[] {
  if (shown !== undefined && shown.value === due && shown.quality === null) return [];
  return [`${robotId} ${name} is ${shown?.value} (${shown?.quality}) instead of ${due}`];
}

/** A position is shown from a change of 0.1 on. */
const DEADBAND = 0.1;

function far(robotId: string, shown: Shown | undefined, due: number): readonly string[] {
  const value = shown?.value;
  if (typeof value === "number" && Math.abs(value - due) <= DEADBAND + 1e-9) return [];
  return [`${robotId} is at ${value} instead of ${due}`];
}
