import type { StateAlarm } from "../contracts/alarms.ts";
import { ofGateway } from "../domain/alarm.ts";
import type { Clock } from "../platform/clock.ts";
import type { Component } from "../platform/component.ts";

const LINK_DOWN = "the gateway has no session to the fleet service";

/** Whether there is a session to the fleet service, since when, and the alarm while there is none. */
export function createLinkWatch(state: StateAlarm, clock: Clock) {
  let link = { isUp: false, changedAtMs: clock.nowMs() };
  const say = () => state(ofGateway, "FLEET_LINK_DOWN", { holds: !link.isUp, text: LINK_DOWN });
  return {
    now: () => link,
    /**
     * Counts from when the session begins to connect: the duration of the gateway's start is no failure of
     * the link.
     */
    watch: <T extends Component>(session: T): T => ({
      ...session,
      run(signal, ready) {
        say();
        return session.run(signal, ready);
      },
    }),
    note(isUp: boolean): void {
      if (isUp !== link.isUp) link = { isUp, changedAtMs: clock.nowMs() };
      say();
    },
  };
}
