import { z } from "zod";
import { milliseconds, page, robotId, time, user, type ViewOf } from "../../../models/parts.ts";
import { stationModel } from "../../../models/station.ts";

/** A point of a map. Neither the units nor the meaning of the types is documented. */
const point = z.strictObject({
  id: z.int().nullable(),
  code: z.string(),
  alias: z.string(),
  x: z.number(),
  y: z.number(),
  theta: z.number().nullable(),
  type: z.int().nullable(),
});

const mapFacts = {
  map_id: z.int().min(1),
  name: z.string().nullable().describe("As robots on it call it; null: none does."),
  read_at: time.describe("When the service last answered with it."),
  bytes: z.int().describe("How large its answer is."),
};

export const mapSummary = z.strictObject(mapFacts);

export const map = z.strictObject({
  ...mapFacts,
  points: z.array(point).nullable().describe("Null: the answer has more than 256 KiB, or cannot be read."),
});

export const maps = z.strictObject({ ...page, maps: z.array(mapSummary) });

export const station = stationModel.extend({
  permit: z.strictObject({ required: z.boolean(), given: z.boolean(), reason: z.string() }),
  leases: z.array(z.strictObject({ robot_id: robotId, owner: user, since: time, for_ms: milliseconds })),
  alarms: z.int().min(0).describe("How many stand; the list of alarms has them."),
});

export const stations = z.strictObject({ ...page, stations: z.array(station) });

export type MapPoint = ViewOf<typeof point>;
export type MapSummary = ViewOf<typeof mapSummary>;
export type FleetMap = ViewOf<typeof map>;
export type Maps = ViewOf<typeof maps>;
export type Station = ViewOf<typeof station>;
export type Stations = ViewOf<typeof stations>;

/** Those of the configuration. The console has the types of this file, and none of the options. */
const pointShape = z.enum(["dot", "square", "ring", "cross", "bar", "station", "charger", "home"]);

const pair = z.strictObject({ x: z.number(), y: z.number() });

/** A point of a drawing: a pixel, counted from the upper left corner, and its position on the map. */
const anchor = z.strictObject({ pixel: pair, map: pair });

/** The floor settings of the configuration (`web.floor`). */
export const floorSettings = z.strictObject({
  point_types: z.array(z.strictObject({ type: z.int(), name: z.string(), shape: pointShape })),
  drawings: z.array(
    z.strictObject({
      map_id: z.int(),
      width: z.int().describe("In pixels."),
      height: z.int(),
      first: anchor.describe("One of the two places that lay it on the map."),
      second: anchor,
    }),
  ),
});

export type FloorSettings = ViewOf<typeof floorSettings>;
export type FloorPicture = FloorSettings["drawings"][number];
