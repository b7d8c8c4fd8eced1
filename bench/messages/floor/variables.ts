import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  DataType,
  MessageSecurityMode,
  type Namespace,
  OPCUACertificateManager,
  OPCUAServer,
  SecurityPolicy,
  StatusCodes,
  type UAVariable,
} from "node-opcua";
import { Feedback_Status } from "../../../src/wire/fleet/v1/serve/serve_pb.js";
import type { SubscribeMissionStatusResponse } from "../../../src/wire/fleet/v1/service_pb.js";

/** The gateway's namespace, and the place it has in both servers. */
const NAMESPACE_URI = "urn:fleetgate:fleet";
const NAMESPACE_INDEX = 2;

/**
 * The values of a robot that change from one message of the load service to the next, as the gateway shows
 * them.
 */
const changing = {
  SequenceNumber: DataType.Double,
  CurrentGoalIndex: DataType.Int32,
  CurrentGoal: DataType.String,
  Feedback: DataType.Int32,
  Arrived: DataType.Boolean,
} as const;
type Name = keyof typeof changing;
const names = Object.keys(changing) as Name[];

export function sequenceNodeId(robot: string): string {
  return nodeId(robot, "SequenceNumber");
}

function nodeId(robot: string, name: Name): string {
  return `ns=${NAMESPACE_INDEX};s=Robots.${robot}.Mission.${name}`;
}

export interface Variables {
  set(message: SubscribeMissionStatusResponse): void;
}

/** An OPC UA server on loopback with the changing values of every robot, written the plain way. */
export async function createVariables(port: number, robots: readonly string[]): Promise<Variables> {
  const rootFolder = mkdtempSync(join(tmpdir(), "fleetgate-floor-"));
  process.once("exit", () => rmSync(rootFolder, { recursive: true, force: true }));
  const server = new OPCUAServer({
    port,
    host: "127.0.0.1",
    hostname: "localhost",
    serverCertificateManager: new OPCUACertificateManager({
      rootFolder,
      automaticallyAcceptUnknownCertificate: true,
    }),
    securityModes: [MessageSecurityMode.None],
    securityPolicies: [SecurityPolicy.None],
    allowAnonymous: true,
  });
  await server.initialize();
  const space = server.engine.addressSpace;
  if (space === null) throw new Error("the server has no address space");
  const namespace = space.registerNamespace(NAMESPACE_URI);
  if (namespace.index !== NAMESPACE_INDEX) throw new Error(`the namespace got index ${namespace.index}`);
  const nodes = new Map(robots.map((robot) => [robot, addRobot(namespace, space.rootFolder.objects, robot)]));
  await server.start();
  return { set: (message) => write(nodes.get(message.robotId), message) };
}

type Nodes = Record<Name, UAVariable>;

function addRobot(namespace: Namespace, objects: object, robot: string): Nodes {
  const folder = namespace.addObject({ organizedBy: objects as never, browseName: robot });
  const entries = names.map((name) => {
    const variable = namespace.addVariable({
      componentOf: folder,
      browseName: name,
      nodeId: `s=Robots.${robot}.Mission.${name}`,
      dataType: changing[name],
      minimumSamplingInterval: 0,
    });
    return [name, variable];
  });
  return Object.fromEntries(entries) as Nodes;
}

function write(nodes: Nodes | undefined, message: SubscribeMissionStatusResponse): void {
  const mission = message.missionStates?.missions[message.missionStates.currentMissionIndex];
  if (nodes === undefined || mission === undefined) return;
  const timestamp = message.metadata?.timestamp;
  const sourceMs = Number(timestamp?.seconds ?? 0n) * 1000 + (timestamp?.nanos ?? 0) / 1e6;
  const source = new Date(sourceMs);
  const feedback = mission.missionFeedback?.feedback;
  const status = feedback?.case === "serveFeedback" ? feedback.value.status : 0;
  const values: Record<Name, number | string | boolean> = {
    SequenceNumber: Number(message.metadata?.sequenceNumber ?? 0n),
    CurrentGoalIndex: mission.currentGoalIndex,
    CurrentGoal: String(mission.goals[mission.currentGoalIndex]?.goal.value ?? ""),
    Feedback: status,
    Arrived: status === Feedback_Status.ARRIVED,
  };
  for (const name of names) {
    nodes[name].setValueFromSource(
      { dataType: changing[name], value: values[name] },
      StatusCodes.Good,
      source,
    );
  }
}
