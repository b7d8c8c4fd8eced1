import { z } from "zod";
import type { ViewOf } from "../../../models/parts.ts";

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
