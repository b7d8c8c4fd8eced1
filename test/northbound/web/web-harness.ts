import type { CertificateAudit, ClientCertificates } from "../../../src/contracts/client-certificates.ts";
import type { WebAccess } from "../../../src/northbound/web/options.ts";
import { createWebServer, type WebServer } from "../../../src/northbound/web/server.ts";
import type { WebSimulator } from "../../../src/northbound/web/simulator-routes.ts";
import { createWebApi } from "../../../src/northbound/web/web-api.ts";
import type { Clock } from "../../../src/platform/clock.ts";
import { createLive } from "../../../src/platform/live.ts";
import { silentLog } from "../../../src/platform/log.ts";
import { allowedRights } from "../../support/allowed-rights.ts";
import { createTestActs } from "../../support/fake-acts.ts";
import { fakeMonitoring } from "../../support/fake-monitoring.ts";
import { createManualClock, type ManualClock } from "../../support/manual-clock.ts";
import { createFakeCommander, type FakeCommander, fakeCatalogue } from "../opcua/fake-commands.ts";
import { start } from "./control-harness.ts";
import { createTestApi, type TestApi } from "./fleet-api-harness.ts";

/** Everybody may use the listener. */
export const openAccess: WebAccess = { users: [], tokens: [], movesFrom: null };

/** What a listener without log-in has besides its address. */
export const openListener = { tls: createLive(null), access: createLive(openAccess) };

/** What a test may put in the place of nothing. */
interface WebExtras extends Partial<CertificateAudit> {
  readonly clientCertificates?: ClientCertificates;
  readonly simulator?: WebSimulator;
}

/** What a web server needs besides its options: a fleet of its own, and commands that a test answers. */
export function webParts(clock: Clock, more: WebExtras = {}) {
  const { clientCertificates = null, simulator = null, certificate = () => {} } = more;
  const commander = createFakeCommander();
  commander.serve({ catalogue: fakeCatalogue(), clock, refused: () => {} });
  const fleet = createTestApi(clock);
  const audit = { refused: commander.refused, session: () => {}, certificate };
  const api = createWebApi({
    fleetApi: fleet.api,
    commands: {
      commander,
      records: commander,
      acts: createTestActs({ refused: (...given) => commander.refused(...given) }),
      rights: allowedRights,
      catalogue: fakeCatalogue(),
    },
    audit,
    clientCertificates,
    simulator,
    clock,
  });
  const monitoring = fakeMonitoring();
  const parts = { api, monitoring, consoleFolder: null, gatewayId: "plant1", audit, clock, log: silentLog };
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

export async function createWebHarness(more: (clock: Clock) => WebExtras = () => ({})): Promise<WebHarness> {
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
  const { parts, commander, fleet } = webParts(clock, more(clock));
  const server = createWebServer(
    {
      listen: { host: "127.0.0.1", port: 0 },
      hostnames: [],
      tls: createLive(null),
      access,
    },
    parts,
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
