import { z } from "zod";
import { alarmModel } from "../../.build/models/alarm.js";
import * as values from "../../.build/models/robot.js";
import * as alarm from "../../.build/northbound/web/api/alarm.js";
import * as command from "../../.build/northbound/web/api/command.js";
import * as floor from "../../.build/northbound/web/api/floor.js";
import * as gateway from "../../.build/northbound/web/api/gateway.js";
import * as robot from "../../.build/northbound/web/api/robot.js";
import * as session from "../../.build/northbound/web/api/session.js";
import * as simulator from "../../.build/northbound/web/api/simulator.js";
import { streamMessages } from "../../.build/northbound/web/api/stream.js";
import * as tag from "../../.build/northbound/web/api/tag.js";
import * as trend from "../../.build/northbound/web/api/trend.js";

const answers = [robot, trend, floor, alarm, command, session, gateway, tag, simulator];

/** The models of bodies by the names of their schemas: those of the API's files, with a capital. */
const models = {
  Mission: values.missionModel,
  Battery: values.batteryModel,
  Conveyor: values.conveyorModel,
  TaskChain: values.taskChainModel,
  Hold: values.holdModel,
  Alarm: alarmModel,
  ...capitalized("", Object.assign({}, ...answers)),
  ...capitalized("Stream", streamMessages),
  // An answer that another page describes.
  Described: z.looseObject({}),
};

/** The schemas of all models; a model that is a part of another one is a reference there. */
export function modelSchemas() {
  const registry = z.registry();
  for (const [name, model] of Object.entries(models)) registry.add(model, { id: name });
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

function capitalized(prefix, exported) {
  return Object.fromEntries(
    Object.entries(exported)
      .filter(([, model]) => model instanceof z.ZodType)
      .map(([name, model]) => [`${prefix}${name[0].toUpperCase()}${name.slice(1)}`, model]),
  );
}
