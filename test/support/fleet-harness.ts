import { readFile } from "node:fs/promises";
import type { FleetPort } from "../../src/contracts/fleet-port.ts";
import type { FleetUpdate } from "../../src/domain/update.ts";
import { createFleetSession } from "../../src/fleet/fleet-session.ts";
import { defaultFleetTimes, type FleetOptions, type FleetTimes } from "../../src/fleet/options.ts";
import type { RandomSource } from "../../src/platform/backoff.ts";
import { type Clock, systemClock } from "../../src/platform/clock.ts";
import type { Health } from "../../src/platform/component.ts";
import { type Log, silentLog } from "../../src/platform/log.ts";
import type { Endpoints } from "../../src/simulator/simulator.ts";
import { type JsonPort, jsonPort } from "./fleet-requests.ts";

type EventOf<Kind extends FleetUpdate["kind"]> = Extract<FleetUpdate, { readonly kind: Kind }>;

/** A fleet session that runs, and what it has told so far. */
export interface FleetHarness {
  /** Takes requests as JSON text. */
  readonly port: JsonPort;
  readonly fleetPort: FleetPort;
  readonly events: readonly FleetUpdate[];
  health(): Health;
  figure(name: string): number;
  /** The first event, told already or still to come, of this kind and for which `is` holds. */
  event<Kind extends FleetUpdate["kind"]>(
    kind: Kind,
    is?: (event: EventOf<Kind>) => boolean,
  ): Promise<EventOf<Kind>>;
  /** The same, among events told from now on. */
  next<Kind extends FleetUpdate["kind"]>(
    kind: Kind,
    is?: (event: EventOf<Kind>) => boolean,
  ): Promise<EventOf<Kind>>;
  /**
   * Resolves when `holds`, which is asked after every event and, for figures change without one, every 20 ms.
   */
  until(what: string, holds: () => boolean): Promise<void>;
  /** Cuts its connections, as before the end of the process. */
  cut(): void;
  /** Ends the session; rejects when it failed. */
  stop(): Promise<void>;
  isStopped(): boolean;
}

/** How a test's session differs from the product's. */
export type FleetOverrides = Partial<Omit<FleetOptions, "times">> & {
  readonly times?: Partial<FleetTimes>;
  readonly clock?: Clock;
  readonly random?: RandomSource;
  readonly log?: Log;
  /** Hears of each event as it comes. */
  readonly onEvent?: (event: FleetUpdate) => void;
  readonly onClockSkew?: (skewMs: number) => void;
};

const PATIENCE_MS = 30_000;

/** The options by which a session finds this service, for all robots of its first location unless told. */
async function fleetOptions(endpoints: Endpoints, overrides: FleetOverrides = {}): Promise<FleetOptions> {
  const {
    times,
    clock: _clock,
    random: _chance,
    log: _log,
    onEvent: _onEvent,
    onClockSkew: _onClockSkew,
    ...options
  } = overrides;
  const document = JSON.parse(await readFile(endpoints.credentials, "utf8")) as Record<string, string>;
  const { api_key: apiKey = "", scope = "", secret = "" } = document;
  return {
    grpcAddress: endpoints.grpc,
    serviceName: "fleet.v1.FleetService",
    httpsUrl: endpoints.https,
    authUrl: endpoints.https,
    credentials: { apiKey, scope, secret },
    tls: { ca: await readFile(endpoints.ca, "utf8"), client: null },
    proxyUrl: null,
    transport: "grpc",
    robots: { kind: "locations", locations: endpoints.locations.slice(0, 1) },
    events: { kind: "streams" },
    families: new Map(),
    amrIds: new Map(),
    cacheDirectory: null,
    sharers: 1,
    ...options,
    times: { ...defaultFleetTimes, ...times },
  };
}

/** Starts a session against a service. */
export async function startFleetSession(
  endpoints: Endpoints,
  overrides: FleetOverrides = {},
): Promise<FleetHarness> {
  const events: FleetUpdate[] = [];
  const watchers = new Set<() => void>();
  const session = createFleetSession(await fleetOptions(endpoints, overrides), {
    clock: overrides.clock ?? systemClock,
    random: overrides.random ?? Math.random,
    log: overrides.log ?? silentLog,
    onClockSkew(skewMs) {
      overrides.onClockSkew?.(skewMs);
      for (const watcher of [...watchers]) watcher();
    },
    sink(event) {
      events.push(event);
      overrides.onEvent?.(event);
      for (const watcher of [...watchers]) watcher();
    },
  });
  const stopping = new AbortController();
  const run = session.run(stopping.signal, () => {});
  // A failure is reported by stop(); until then it must not count as unhandled.
  run.catch(() => {});

  function until(what: string, holds: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (!holds()) return;
        settle();
        resolve();
      };
      const settle = () => {
        watchers.delete(look);
        clearInterval(polling);
        clearTimeout(giveUp);
      };
      const polling = setInterval(look, 20);
      const giveUp = setTimeout(() => {
        settle();
        reject(new Error(`in ${PATIENCE_MS} ms not: ${what}; health ${JSON.stringify(session.health())}`));
      }, PATIENCE_MS);
      watchers.add(look);
      look();
    });
  }

  async function find<Kind extends FleetUpdate["kind"]>(
    from: number,
    kind: Kind,
    is: (event: EventOf<Kind>) => boolean,
  ): Promise<EventOf<Kind>> {
    const fits = (event: FleetUpdate): event is EventOf<Kind> =>
      event.kind === kind && is(event as EventOf<Kind>);
    await until(`an event ${kind}`, () => events.slice(from).some(fits));
    const found = events.slice(from).find(fits);
    if (found === undefined) throw new Error("an event that was there is gone");
    return found;
  }

  return {
    port: jsonPort(session.port),
    fleetPort: session.port,
    events,
    health: () => session.health(),
    figure: (name) => session.health().figures?.[name] ?? Number.NaN,
    event: (kind, is = () => true) => find(0, kind, is),
    next: (kind, is = () => true) => find(events.length, kind, is),
    until,
    cut: session.cut,
    async stop() {
      stopping.abort();
      await run;
    },
    isStopped: () => stopping.signal.aborted,
  };
}
