/** A place on the map in metres and radians. */
export interface Pose {
  readonly xMeters: number;
  readonly yMeters: number;
  readonly headingRadians: number;
}

/**
 * Where a mission sends a robot: a destination's display name, a pose, or a kind
 * of goal that this version does not know.
 */
export type Goal =
  | { readonly kind: "destination"; readonly destinationId: string }
  | { readonly kind: "pose"; readonly pose: Pose }
  | { readonly kind: "none" };
