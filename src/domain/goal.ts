/** A place on the map in metres and radians. */
export interface Pose {
  readonly xMeters: number;
  readonly yMeters: number;
  readonly headingRadians: number;
}

/**
 * Where a mission sends a robot: a destination's display name, a pose, or
 * nothing that this version knows (fleet-service-interface, Goal and pose).
 */
export type Goal =
  | { readonly kind: "destination"; readonly destinationId: string }
  | { readonly kind: "pose"; readonly pose: Pose }
  | { readonly kind: "none" };
