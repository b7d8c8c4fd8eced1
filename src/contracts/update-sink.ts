import type { FleetUpdate } from "../domain/update.ts";

/** Takes the updates of the southbound. Synchronous; never throws. */
export type UpdateSink = (update: FleetUpdate) => void;
