import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { quantile } from "../quantile.ts";
import { pause } from "../section-run.ts";

/** What those who watch the gateway wait for. */
export interface Watching {
  readonly metricsMs: number;
  readonly metricsMostMs: number;
  readonly metricsKb: number;
  readonly statusMs: number;
  readonly statusMostMs: number;
  readonly statusKb: number;
}

const ROUNDS = 15;
/** Scrapes within half a second get the same text. */
const PAUSE_MS = 700;

/**
 * Asks for the metrics and the status over the control socket, in turn. The first answer of each is not
 * counted: it compiles.
 */
export async function watchingCost(socketPath: string): Promise<Watching> {
  const metrics: Answer[] = [];
  const status: Answer[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    await pause(PAUSE_MS);
    metrics.push(await ask(socketPath, "/metrics"));
    status.push(await ask(socketPath, "/api/v1/status"));
  }
  const [ofMetrics, ofStatus] = [metrics, status].map((answers) => answers.slice(1).map(({ ms }) => ms));
  return {
    metricsMs: quantile(ofMetrics ?? [], 0.5),
    metricsMostMs: Math.max(...(ofMetrics ?? [])),
    metricsKb: Math.max(...metrics.map(({ bytes }) => bytes)) / 1000,
    statusMs: quantile(ofStatus ?? [], 0.5),
    statusMostMs: Math.max(...(ofStatus ?? [])),
    statusKb: Math.max(...status.map(({ bytes }) => bytes)) / 1000,
  };
}

interface Answer {
  readonly ms: number;
  readonly bytes: number;
}

async function ask(socketPath: string, path: string): Promise<Answer> {
  const beganMs = performance.now();
  const [response] = (await once(get({ socketPath, path }), "response")) as [IncomingMessage];
  const { length } = await buffer(response);
  if (response.statusCode !== 200) throw new Error(`${path} was answered with ${response.statusCode}`);
  return { ms: performance.now() - beganMs, bytes: length };
}
