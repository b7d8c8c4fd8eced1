import { connectFault, connectFaultText, type Peer } from "../platform/connect-fault.ts";
import { bareHost } from "../platform/url-host.ts";
import { errorText, serviceText } from "./error-text.ts";
import { isOfProxy, ProxyFailed, proxyAnswer, proxyFailed } from "./proxy-fault.ts";

/** The server of a connection. */
interface Target {
  /** The key of its address, as `fleet.https`. */
  readonly key: string;
  /** `https://host:port`. */
  readonly url: string;
  /** Null: there is no proxy. */
  readonly proxyUrl: string | null;
}

/** undici's message for an answer to CONNECT other than 200. */
const REFUSED_TUNNEL = /^Proxy response \((\d+)\)/;

/**
 * Why a connection to the service could not be made, in one line: the host, its key, and what to do if the
 * reason is known. It changes once a day at most, so that it is one transition in log and health.
 */
export function connectProblem(error: unknown, { key, url, proxyUrl }: Target, nowMs: number): string {
  if (error instanceof ProxyFailed) return serviceText(error.message);
  const { hostname, port } = new URL(url);
  const peer: Peer = {
    key,
    host: bareHost(hostname),
    port: port === "" ? 443 : Number(port),
    caKey: "fleet.ca",
    certificateKey: "fleet.clientCertificate",
  };
  if (proxyUrl !== null) {
    const status = REFUSED_TUNNEL.exec(errorText(error))?.[1];
    if (status !== undefined) return proxyAnswer(Number(status), `${hostname}:${peer.port}`);
    if (isOfProxy(error)) return serviceText(proxyFailed(error, proxyUrl).message);
  }
  const today = new Date(nowMs).toISOString().slice(0, "2026-01-31".length);
  return connectFault(error, peer, today) === null
    ? errorText(error)
    : serviceText(connectFaultText(error, peer, today, ""));
}
