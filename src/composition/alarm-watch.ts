import type { CertificateEnd, OwnCertificates } from "../config/certificate-files.ts";
import type { StateAlarm } from "../contracts/alarms.ts";
import type { FanOut } from "../delivery/fan-out.ts";
import { type AlarmCode, ofGateway } from "../domain/alarm.ts";
import type { AlarmCondition } from "../domain/alarm-instance.ts";
import type { FleetSession } from "../fleet/fleet-session.ts";
import { type Clock, every } from "../platform/clock.ts";
import { judgingMs, wrongClock } from "../platform/clock-watch.ts";
import { aborted, type Component } from "../platform/component.ts";
import { type FreeBytes, freeBytes } from "../platform/disk-health.ts";
import { createWatchdog } from "../platform/liveness.ts";
import { LEAST_FREE_BYTES } from "../platform/store.ts";
import type { Stores } from "./stores.ts";

interface AlarmWatchDependencies {
  readonly dataDir: string;
  readonly stores: Pick<Stores, "lossToConfirm">;
  readonly certificates: Pick<OwnCertificates, "look">;
  /** Notes when the state of a component changes. */
  readonly noteHealth: () => void;
  /** When the program was built, by which the clock is judged; null: not known. */
  readonly builtAt: Date | null;
  /** Called with why the clock of this machine cannot be right. */
  readonly noteWrongClock: (problem: string | null) => void;
  readonly fleet: Pick<FleetSession, "renewalProblem">;
  readonly fanOut: Pick<FanOut, "losing">;
  readonly state: StateAlarm;
  /** Delivers the alarms that time alone has raised or ended. */
  readonly tick: () => void;
  /** Looks at the cluster of this gateway; absent: it is the only one. */
  readonly lookAtCluster?: () => void;
  readonly clock: Clock;
  /** Free bytes of the disk; a test replaces it. */
  readonly free?: FreeBytes;
}

const LOOK_MS = 1_000;
const HANG_MS = 30_000;
const DAY_MS = 86_400_000;
/** At a start, the OPC UA server makes or replaces its certificate a moment after the first look. */
const CERTIFICATE_LOOK_MS = 5_000;
const CERTIFICATE_DAYS = 60;
const LAST_DAYS = 7;
const LAST_DAYS_SEVERITY = 700;
const nothing: AlarmCondition = { holds: false, text: "" };

/** Checks what the gateway itself may lack, and lets the delays of alarms end. */
export function createAlarmWatch({
  dataDir,
  stores,
  certificates,
  noteHealth,
  builtAt,
  noteWrongClock,
  fleet,
  fanOut,
  state,
  tick,
  lookAtCluster = () => {},
  clock,
  free = freeBytes,
}: AlarmWatchDependencies): Component {
  const watchdog = createWatchdog(HANG_MS, clock);
  let isDiskFull = false;

  function say(code: AlarmCode, text: string | null): void {
    state(ofGateway, code, text === null ? nothing : { holds: true, text });
  }

  /** With a margin, so that a disk near the limit raises no new alarm each second. */
  function lookAtDisk(): void {
    const bytes = free(dataDir);
    isDiskFull = bytes !== null && bytes < LEAST_FREE_BYTES * (isDiskFull ? 2 : 1);
    say("DISK_FULL", isDiskFull ? `the disk of ${dataDir} is full` : null);
  }

  function look(): void {
    lookAtDisk();
    say("RECORDS_LOST", stores.lossToConfirm());
    noteWrongClock(wrongClock(clock.nowMs(), builtAt));
    const losing = fanOut.losing();
    const dropping = `events for ${losing.join(", ")} are lost: more come than are taken`;
    say("BUFFER_DROPPING", losing.length === 0 ? null : dropping);
    // Without the reason, which names the next attempt: each text would be another occurrence.
    const isRenewed = fleet.renewalProblem() === null;
    say("TOKEN_NOT_RENEWED", isRenewed ? null : "the token of the fleet service cannot be renewed");
    lookAtCluster();
    tick();
    noteHealth();
    watchdog.touch();
  }

  async function lookAtCertificates(): Promise<void> {
    const ends = await certificates.look();
    state(ofGateway, "CERTIFICATE_EXPIRES", soonestEnd(ends, judgingMs(clock.nowMs(), builtAt)));
  }

  return {
    name: "alarms",
    health: () => ({ state: "up" }),
    hang: watchdog.hang,
    async run(signal, ready) {
      watchdog.touch();
      await lookAtCertificates();
      every(clock, LOOK_MS, signal, look);
      every(clock, CERTIFICATE_LOOK_MS, signal, () => void lookAtCertificates());
      ready();
      await aborted(signal);
      watchdog.end();
    },
  };
}

/** The certificates that end within 60 days, or have ended; the first to end decides the severity. */
function soonestEnd(ends: readonly CertificateEnd[], nowMs: number): AlarmCondition {
  const near = ends
    .filter(({ endMs }) => endMs - nowMs < CERTIFICATE_DAYS * DAY_MS)
    .sort((a, b) => a.endMs - b.endMs);
  const [first] = near;
  if (first === undefined) return nothing;
  const text = near
    .map(({ key, path, endMs }) => `${key} (${path}) ends on ${new Date(endMs).toISOString().slice(0, 10)}`)
    .join("; ");
  const isLast = first.endMs - nowMs < LAST_DAYS * DAY_MS;
  return isLast ? { holds: true, text, severity: LAST_DAYS_SEVERITY } : { holds: true, text };
}

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
