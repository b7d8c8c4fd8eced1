import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Control } from "../../src/simulator/control.ts";
import type { SimulatorOptions } from "../../src/simulator/options.ts";
import { createSimulator, type Endpoints } from "../../src/simulator/simulator.ts";
import { createFleetClient, type FleetClient } from "./fleet-client.ts";
import { type HttpsAnswer, https } from "./https.ts";

/** A real simulated fleet service on free ports, for one test or one file of tests. */
export interface RunningSimulator {
  readonly endpoints: Endpoints;
  /** The certificate to trust, PEM. */
  readonly ca: Buffer;
  /** Faults, incidents, other people's missions, and the record of what really happened. */
  readonly control: Control;
  /** A fresh JWT of the first distributor, or of the one whose document is given. */
  token(credentialsFile?: string): Promise<string>;
  /** A gRPC client; closed with the simulator. With a token of the first distributor unless told. */
  client(options?: { readonly token?: string; readonly serviceName?: string }): Promise<FleetClient>;
  /** A request to the HTTPS side, with a token of the first distributor unless `token` is null or another. */
  rest(method: string, path: string, body?: unknown, token?: string | null): Promise<HttpsAnswer>;
  /** gRPC calls and streams under way, as the service counts them. */
  openCalls(): number;
  /** Of those, the subscriptions to missions. */
  missionStreams(): number;
  /** Ends the service and removes its data folder, if it was made for it. Rejects when the service failed. */
  stop(): Promise<void>;
}

/** The section `fleet` of a gateway's configuration that uses this service. */
export function fleetSection({
  grpc,
  https,
  ca,
  credentials,
  locations,
}: Pick<Endpoints, "grpc" | "https" | "ca" | "credentials" | "locations">) {
  return { grpc: { address: grpc }, https, ca, credentials, locations };
}

const generous = { count: 1_000_000, windowMs: 1_000 };

/**
 * Starts the default scenario (six robots of `acme`, one of `globex`) with
 * confirmations at once and no limit on exchanges, unless the overrides say otherwise.
 */
export async function startSimulator(overrides: Partial<SimulatorOptions> = {}): Promise<RunningSimulator> {
  const dataDir = overrides.dataDir ?? (await mkdtemp(join(tmpdir(), "fleetgate-simulator-")));
  const simulator = createSimulator({
    grpcPort: 0,
    httpsPort: 0,
    confirmMs: 0,
    exchangeLimits: { perKeyAndAddress: generous, perAddress: generous },
    ...overrides,
    dataDir,
  });
  const stopping = new AbortController();
  let run: Promise<void> = Promise.resolve();
  await new Promise<void>((resolve, reject) => {
    run = simulator.run(stopping.signal, resolve);
    run.catch(reject);
  });
  const endpoints = simulator.endpoints();
  const ca = await readFile(endpoints.ca);
  const clients: FleetClient[] = [];

  const token = async (credentialsFile = endpoints.credentials) => {
    const document = await readFile(credentialsFile, "utf8");
    const url = `${endpoints.https}/authorizeApiAccess`;
    const answer = await https({ url, ca, method: "POST", body: document });
    if (answer.status !== 200) throw new Error(`the exchange answered ${answer.status}: ${answer.text}`);
    return answer.text;
  };
  let firstToken: Promise<string> | undefined;
  const defaultToken = () => {
    firstToken ??= token();
    return firstToken;
  };

  // Kept beyond the end of the service: it tells what happened until then.
  const control = overrides.replay === undefined ? simulator.control() : null;
  return {
    endpoints,
    ca,
    get control() {
      if (control === null) throw new Error("a replay has no control");
      return control;
    },
    token,
    async client(options = {}) {
      const client = createFleetClient({
        address: endpoints.grpc,
        ca,
        token: await defaultToken(),
        ...options,
      });
      clients.push(client);
      return client;
    },
    async rest(method, path, body, withToken) {
      const jwt = withToken === undefined ? await defaultToken() : withToken;
      const headers: Record<string, string> = jwt === null ? {} : { authorization: `Bearer ${jwt}` };
      return https({ url: `${endpoints.https}${path}`, ca, method, headers, body });
    },
    openCalls: () => simulator.health().figures?.openCalls ?? 0,
    missionStreams: () => simulator.health().figures?.missionStreams ?? 0,
    async stop() {
      for (const client of clients) client.close();
      stopping.abort();
      await run;
      if (overrides.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
    },
  };
}
