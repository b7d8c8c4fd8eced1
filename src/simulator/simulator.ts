import { isIP } from "node:net";
import { systemClock } from "../platform/clock.ts";
import { aborted, type Closer, type Component, createCloser } from "../platform/component.ts";
import { makeFolder } from "../platform/folder.ts";
import { silentLog } from "../platform/log.ts";
import { type IssuedKey, issueKeys } from "./auth/api-key.ts";
import { loadSigningKey } from "./auth/token.ts";
import type { Control } from "./control.ts";
import { createFaultRegistry } from "./faults/registry.ts";
import { openReplay, openWorld, type Service } from "./fleet-source.ts";
import type { SimulatorOptions } from "./options.ts";
import { generatedScenario } from "./scenario/generated-scenario.ts";
import { defaultScenario, loadScenario, type Scenario } from "./scenario/scenario.ts";
import { loadIdentity } from "./tls/identity.ts";
import { createTransports, type Transports } from "./transports.ts";

/** The addresses and files of the running service. */
export interface Endpoints {
  /** `host:port`. */
  readonly grpc: string;
  /** Base URL of REST, of the HTTP operations and of the exchange. */
  readonly https: string;
  /** Path of the certificate to trust. */
  readonly ca: string;
  /** Path of an API key document. */
  readonly credentials: string;
  /** Path of an API key document of a second distributor; undefined: the scenario has none. */
  readonly otherCredentials: string | undefined;
  /** The locations of the first document's distributor, or of the recording. */
  readonly locations: readonly string[];
}

/** The simulated fleet service. */
export interface Simulator extends Component {
  /** Throws before `ready` was called. */
  endpoints(): Endpoints;
  /** Throws before `ready` was called, and for a replay. */
  control(): Control;
}

const DEFAULT_GRPC_PORT = 7443;

/** Makes a fleet service. Its `run` rejects with PortTaken, ScenarioError or NoRecording. */
export function createSimulator(options: SimulatorOptions): Simulator {
  let running: Running | undefined;
  const whileRunning = (): Running => {
    if (running === undefined) throw new Error("the simulator is not running");
    return running;
  };
  return {
    name: "simulator",
    async run(signal, ready) {
      const closer = createCloser();
      try {
        running = await start(options, closer, signal);
        ready();
        await aborted(signal);
      } finally {
        running = undefined;
        await closer.close();
      }
    },
    health: () => (running === undefined ? { state: "down" } : running.health()),
    endpoints: () => whileRunning().endpoints,
    control() {
      const { control } = whileRunning();
      if (control === null) throw new Error("a replay has no control");
      return control;
    },
  };
}

interface Running {
  readonly endpoints: Endpoints;
  readonly control: Control | null;
  health: Component["health"];
}

async function start(options: SimulatorOptions, closer: Closer, signal: AbortSignal): Promise<Running> {
  const { dataDir, clock = systemClock, log = silentLog, host = "127.0.0.1" } = options;
  const scenario = await chooseScenario(options);
  await makeFolder(dataDir);
  const names = [...(options.certificateNames ?? []), ...(isEverywhere(host) ? [] : [host])];
  // Peers check certificates by the machine's clock, whatever clock the service uses.
  const identity = await loadIdentity({ dataDir, extraNames: names, nowMs: systemClock.nowMs() });
  const keys = await issueKeys(dataDir, scenario.apiKeys);

  const faults = createFaultRegistry(clock, () => transports.effects);
  const parts = { options, scenario, faults, clock, log, closer };
  const service =
    options.replay === undefined ? await openWorld(parts) : await openReplay(options.replay, parts);
  const { operations, control } = service;
  const tokenFactor = options.acceleratesTokens === true ? scenario.timeFactor : 1;
  const transports = createTransports(options, tokenFactor, {
    identity,
    keys: keys.map(({ key }) => key),
    signingKey: await loadSigningKey(dataDir),
    operations,
    control,
    faults,
    clock,
    log,
  });

  const ports = await listen(transports, options, host, closer);
  service.run(signal);
  for (const { afterMs, fault } of scenario.faults) {
    if (afterMs === 0) faults.apply(fault);
    else closer.add(clock.after(afterMs, () => faults.apply(fault)));
  }
  return {
    control,
    endpoints: describe(service, keys, identity.caFile, host, ports),
    health: () => ({
      state: "up",
      figures: {
        robots: service.robots(),
        openCalls: transports.grpc.openCalls(),
        missionStreams: transports.grpc.openCalls("SubscribeMissionStatus"),
      },
    }),
  };
}

interface Ports {
  readonly grpc: number;
  readonly https: number;
}

async function listen(
  { grpc, https }: Transports,
  options: SimulatorOptions,
  host: string,
  closer: Closer,
): Promise<Ports> {
  const wanted = options.grpcPort ?? DEFAULT_GRPC_PORT;
  const grpcPort = await grpc.listen(host, wanted);
  closer.add(grpc.close);
  closer.add(https.close);
  const httpsPort = await https.listen(host, options.httpsPort ?? (wanted === 0 ? 0 : wanted + 1));
  return { grpc: grpcPort, https: httpsPort };
}

function describe(
  { locations }: Service,
  keys: readonly IssuedKey[],
  ca: string,
  host: string,
  ports: Ports,
): Endpoints {
  const [first] = keys;
  if (first === undefined) throw new Error("a scenario without API keys passed its check");
  const { scope } = first.key;
  // An address, for a machine that cannot resolve the name `localhost`.
  const name = isEverywhere(host) ? "127.0.0.1" : host;
  const authority = isIP(name) === 6 ? `[${name}]` : name;
  return {
    grpc: `${authority}:${ports.grpc}`,
    https: `https://${authority}:${ports.https}`,
    ca,
    credentials: first.file,
    otherCredentials: keys.find(({ key }) => key.scope !== scope)?.file,
    locations,
  };
}

function isEverywhere(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

/** The scenario of the options, with their overrides. Rejects with a ScenarioError. */
async function chooseScenario(options: SimulatorOptions): Promise<Scenario> {
  const scenario = await readSource(options);
  return {
    ...scenario,
    world: {
      ...scenario.world,
      seed: options.seed ?? scenario.world.seed,
      lively: options.lively ?? scenario.world.lively,
    },
    timeFactor: options.timeFactor ?? scenario.timeFactor,
    confirmMs: options.confirmMs ?? scenario.confirmMs,
    confirmWaitMs: options.confirmWaitMs ?? scenario.confirmWaitMs,
  };
}

async function readSource({ scenario, seed, lively }: SimulatorOptions): Promise<Scenario> {
  const source = scenario ?? { kind: "default" };
  switch (source.kind) {
    case "default":
      return defaultScenario();
    case "file":
      return loadScenario(source.path);
    case "generated":
      return generatedScenario({ robots: source.robots, lively: lively ?? "none", seed: seed ?? 1 });
    case "given":
      return source.scenario;
  }
}
