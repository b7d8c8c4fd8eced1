import type { FleetEvent } from "../domain/event.ts";
import type { Clock } from "../platform/clock.ts";

/** Raises or ends an alarm that concerns no single robot. */
export type TellGatewayAlarm = (code: GatewayAlarmCode, active: boolean, text: string) => void;

type GatewayAlarmCode = "DUPLICATE_GATEWAY" | "CLOCK_SKEW";

/** @param sessionId names this run: event ids are unique within it */
export function createGatewayAlarms(
  sessionId: string,
  clock: Clock,
  notify: (event: FleetEvent) => void,
): TellGatewayAlarm {
  let events = 0;
  return (code, active, text) => {
    events += 1;
    notify({
      kind: "alarm",
      eventId: `${sessionId}.g${events}`,
      robotId: "",
      atMs: clock.nowMs(),
      code,
      active,
      text,
    });
  };
}
