import { createLatencyTrend } from "../commands/log/latency-trend.ts";
import type { Meter } from "../contracts/metrics.ts";
import type { BatteryTrends, LatencyTrend } from "../contracts/trends.ts";
import type { Clock } from "../platform/clock.ts";
import { createBatteryTrends } from "../state/battery-trends.ts";
import type { FleetState } from "../state/fleet-state.ts";

/** The trends of robots and commands over hours, and the meter that feeds them with commands. */
export function createTrends(
  state: Pick<FleetState, "charges">,
  meter: Pick<Meter, "commandEnded">,
  clock: Clock,
): { readonly trends: BatteryTrends & LatencyTrend; readonly meter: Pick<Meter, "commandEnded"> } {
  const latency = createLatencyTrend(clock);
  return {
    trends: { ...createBatteryTrends({ charges: state.charges, clock }), latency: latency.latency },
    meter: {
      commandEnded(command) {
        meter.commandEnded(command);
        latency.commandEnded(command);
      },
    },
  };
}
