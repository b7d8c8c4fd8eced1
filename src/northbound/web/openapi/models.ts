import { z } from "zod";
import { alarmModel } from "../../../models/alarm.ts";
import * as robotModels from "../../../models/robot.ts";
import * as alarm from "../api/alarm.ts";
import * as certificate from "../api/certificate.ts";
import * as command from "../api/command.ts";
import * as connection from "../api/connection.ts";
import * as floor from "../api/floor.ts";
import * as floorSettings from "../api/floor-settings.ts";
import * as gateway from "../api/gateway.ts";
import * as hold from "../api/hold.ts";
import * as operation from "../api/operation.ts";
import * as rights from "../api/rights.ts";
import * as robot from "../api/robot.ts";
import * as session from "../api/session.ts";
import { faultRequest, simulatedFaults } from "../api/simulator.ts";
import * as stream from "../api/stream.ts";
import * as tag from "../api/tag.ts";
import * as trend from "../api/trend.ts";

/** An answer that another page describes. */
const described = z.looseObject({});

/** The models of bodies, by the names of their schemas. */
export const models = {
  Mission: robotModels.missionModel,
  Battery: robotModels.batteryModel,
  Conveyor: robotModels.conveyorModel,
  TaskChain: robotModels.taskChainModel,
  Hold: robotModels.holdModel,
  Robot: robot.robot,
  RobotChange: robot.robotChange,
  Robots: robot.robots,
  Pause: robot.pause,
  BatteryTrend: trend.batteryTrend,
  LatencyTrend: trend.latencyTrend,
  Map: floor.map,
  MapSummary: floor.mapSummary,
  Maps: floor.maps,
  Floor: floorSettings.floorSettings,
  Station: floor.station,
  Stations: floor.stations,
  Alarm: alarmModel,
  Alarms: alarm.alarms,
  Acknowledgement: alarm.acknowledgement,
  Command: command.command,
  Commands: command.commands,
  RequestField: operation.requestField,
  Operation: operation.operation,
  Operations: operation.operations,
  PendingCommand: command.pendingCommand,
  FinalCommand: command.finalCommand,
  Rights: rights.rights,
  CheckRequest: rights.checkRequest,
  Check: rights.check,
  HoldRequest: hold.holdRequest,
  Holders: hold.holders,
  EndedLease: hold.endedLease,
  Health: gateway.health,
  Connection: connection.connection,
  Connections: connection.connections,
  Tag: tag.tag,
  Tags: tag.tags,
  LogIn: session.logIn,
  Session: session.session,
  Certificate: certificate.certificate,
  Certificates: certificate.certificates,
  CertificateRequest: certificate.certificateRequest,
  LogLevelRequest: gateway.logLevelRequest,
  Problem: gateway.problem,
  StreamSnapshot: stream.snapshot,
  StreamRobots: stream.robots,
  StreamChange: stream.change,
  StreamTick: stream.tick,
  StreamEvent: stream.event,
  StreamGap: stream.gap,
  StreamClosed: stream.closed,
  Described: described,
} as const satisfies Readonly<Record<string, z.ZodType>>;

/** The models of the demo alone. */
export const simulatorModels = {
  SimulatedFaults: simulatedFaults,
  FaultRequest: faultRequest,
} as const satisfies Readonly<Record<string, z.ZodType>>;

export type ModelName = keyof typeof models;
export type SimulatorModelName = keyof typeof simulatorModels;
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A reference to a schema of the document. */
export function schemaRef(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

/** The schemas of models; a model that is a part of another one is a reference there. */
export function modelSchemas(
  shown: Readonly<Record<string, z.ZodType>> = models,
): Readonly<Record<string, JsonSchema>> {
  const registry = z.registry<{ id: string }>();
  for (const [name, model] of Object.entries(shown)) registry.add(model, { id: name });
  const { schemas } = z.toJSONSchema(registry, {
    uri: (name) => `#/components/schemas/${name}`,
    override({ jsonSchema }) {
      // A later version may have further members.
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _draft, $id: _id, ...schema }]) => [name, schema]),
  );
}
