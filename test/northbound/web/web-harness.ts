import type { CertificateAudit } from "../../../src/contracts/client-certificates.ts";
import type { WebAccess } from "../../../src/northbound/web/options.ts";
import { createWebServer, type WebParts, type WebServer } from "../../../src/northbound/web/server.ts";
import type { Clock } from "../../../src/platform/clock.ts";
import { createLive } from "../../../src/platform/live.ts";
import { silentLog } from "../../../src/platform/log.ts";
import { allowedRights } from "../../support/allowed-rights.ts";
import { createTestActs } from "../../support/fake-acts.ts";
import { fakeMetrics, isReady } from "../../support/fake-metrics.ts";
import { createManualClock, type ManualClock } from "../../support/manual-clock.ts";
import { createFakeCommander, type FakeCommander, fakeCatalogue } from "../opcua/fake-commands.ts";
import { start } from "./control-harness.ts";
import { createTestApi, type TestApi } from "./fleet-api-harness.ts";

/** Everybody may use the listener. */
export const openAccess: WebAccess = { users: [], tokens: [], movesFrom: null };

/** What a listener without log-in has besides its address. */
export const openListener = { tls: createLive(null), access: createLive(openAccess) };

/** What a web server needs beside its page: a fleet of its own, and commands that a test answers. */
export function webApiParts(clock: Clock) {
  const commander = createFakeCommander();
  commander.serve({ catalogue: fakeCatalogue(), clock, refused: () => {} });
  const fleet = createTestApi(clock);
  const parts = {
    api: fleet.api,
    commander,
    catalogue: fakeCatalogue(),
    rights: allowedRights,
    audit: { refused: commander.refused, session: () => {}, certificate: () => {} },
    records: commander,
    acts: createTestActs({ refused: (...given) => commander.refused(...given) }),
    standingAlarms: () => [],
    clientCertificates: null,
  };
  return { parts, commander, fleet };
}

/** A web server that listens on a free port. */
export interface WebHarness extends AsyncDisposable {
  readonly url: string;
  readonly server: WebServer;
  readonly port: number;
  readonly clock: ManualClock;
  readonly commander: FakeCommander;
  readonly fleet: TestApi;
  /** Users and tokens; a test puts others here. */
  access: WebAccess;
}

/** What a test puts in the place of nothing. */
type OfCertificates = Pick<WebParts, "clientCertificates"> & CertificateAudit;

export async function createWebHarness(
  ofCertificates: (clock: Clock) => Partial<OfCertificates> = () => ({}),
  more: Pick<WebParts, "simulator"> = {},
): Promise<WebHarness> {
  const clock = createManualClock();
  const access = createLive(openAccess);
  const found = {
    get access() {
      return access.now();
    },
    set access(next: WebAccess) {
      access.replace(next);
    },
  };
  const { parts, commander, fleet } = webApiParts(clock);
  const { certificate = () => {}, ...given } = ofCertificates(clock);
  const all: WebParts = {
    ...parts,
    ...given,
    audit: { ...parts.audit, certificate },
    gatewayId: "plant1",
    consoleFolder: null,
    health: () => ({ fleet: { state: "up" } }),
    hang: () => null,
    readiness: isReady,
    metrics: fakeMetrics,
    clock,
    log: silentLog,
    ...more,
  };
  const server = createWebServer(
    {
      listen: { host: "127.0.0.1", port: 0 },
      hostnames: [],
      tls: createLive(null),
      access,
    },
    all,
  );
  const stop = await start(server);
  const url = server.url() ?? "";
  return Object.assign(found, {
    url,
    server,
    port: Number(new URL(url).port),
    clock,
    commander,
    fleet,
    [Symbol.asyncDispose]: stop,
  });
}
