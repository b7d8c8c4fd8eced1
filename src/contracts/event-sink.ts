import type { FleetEvent } from "../domain/event.ts";

/** Where the southbound puts what it hears. Synchronous; never throws. */
export type EventSink = (event: FleetEvent) => void;
