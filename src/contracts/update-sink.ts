import type { FleetUpdate } from "../domain/update.ts";

/** Where the southbound puts what it hears. Synchronous; never throws. */
export type UpdateSink = (update: FleetUpdate) => void;
