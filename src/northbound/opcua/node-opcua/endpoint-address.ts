import { X509Certificate } from "node:crypto";
import { ApplicationDescription, EndpointDescription, type OPCUAServer } from "node-opcua";
import { namesHost } from "../certificate-content.ts";
import { cached, wrap } from "./lower.ts";

/** The host and port of an opc.tcp URL. */
const opcTcpUrl = /^opc\.tcp:\/\/(\[[0-9a-f:.]+\]|[^/:@\s[\]]+)(?::(\d{1,5}))?(?:\/|$)/i;
/** The port of a URL without one (OPC UA part 6, 7.2). */
const USUAL_PORT = 4840;

/** The signature of node-opcua's handlers of requests. */
type Handle = (message: { readonly request: object }, channel: object) => void;

/** The part of node-opcua's server that answers FindServers, some time after the request. */
type GetServers = (channel: object) => ApplicationDescription[];

/**
 * Describes the server and its endpoints with the address by which a client reached it, a forwarded port
 * included, if the server's certificate names the host (OPC UA part 4, 5.4.2 and 5.4.4). Other clients get
 * the configured names. For an initialised server.
 */
export function answerWithAskedAddress(server: OPCUAServer): void {
  const findMatching = server.findMatchingEndpoints.bind(server);
  /** The answer to GetEndpoints in this turn; null: all. */
  let answer: EndpointDescription[] | null = null;

  function matching(asked: string): EndpointDescription[] {
    const known = findMatching(asked);
    if (known.length > 0) return known;
    const endpointUrl = addressOf(asked, server.getCertificate());
    if (endpointUrl === null) return [];
    const usual = findMatching(null)[0]?.endpointUrl ?? null;
    return findMatching(usual).map((endpoint) => withUrl(endpoint, endpointUrl));
  }
  server.findMatchingEndpoints = (asked) => (asked ? matching(asked) : (answer ?? findMatching(asked)));

  wrap<Handle>(server, "_on_GetEndpointsRequest", (answerEndpoints) => (message, channel) => {
    const asked = askedBy(message);
    const found = asked === "" ? [] : matching(asked);
    answer = found.length === 0 ? null : found.map(withOwnAddress);
    try {
      answerEndpoints(message, channel);
    } finally {
      answer = null;
    }
  });
  findServersAtAskedAddress(server, matching);
}

/** Requests of a channel are answered in their order. */
function findServersAtAskedAddress(
  server: OPCUAServer,
  matching: (asked: string) => readonly EndpointDescription[],
): void {
  const waiting = new WeakMap<object, string[]>();
  wrap<Handle>(server, "_on_FindServersRequest", (answerServers) => (message, channel) => {
    cached(waiting, channel, () => []).push(askedBy(message));
    answerServers(message, channel);
  });
  wrap<GetServers>(server, "getServers", (getServers) => (channel) => {
    const asked = waiting.get(channel)?.shift() ?? "";
    const servers = getServers(channel);
    const found = asked === "" ? undefined : matching(asked)[0]?.endpointUrl;
    return found == null ? servers : servers.map((each) => reachedAt(each, found));
  });
}

function askedBy({ request }: { readonly request: object }): string {
  const asked: unknown = Reflect.get(request, "endpointUrl");
  return typeof asked === "string" ? asked : "";
}

/** A copy: node-opcua has one description of the server for all. */
function reachedAt(server: ApplicationDescription, url: string): ApplicationDescription {
  return new ApplicationDescription({ ...server, discoveryUrls: [url] });
}

function withOwnAddress(endpoint: EndpointDescription): EndpointDescription {
  const { endpointUrl } = endpoint;
  return endpointUrl === null ? endpoint : withUrl(endpoint, endpointUrl);
}

/** The address of a URL without its path, if the certificate names the host; otherwise null. */
function addressOf(url: string, certificate: Buffer): string | null {
  const [, host, port = String(USUAL_PORT)] = opcTcpUrl.exec(url) ?? [];
  if (host === undefined || Number(port) > 65_535) return null;
  return namesHost(new X509Certificate(certificate), host) ? `opc.tcp://${host}:${Number(port)}` : null;
}

/**
 * A copy: node-opcua computes some fields each time, and keeps a flag beside them: whether only discovery may
 * use the endpoint.
 */
function withUrl(endpoint: EndpointDescription, endpointUrl: string): EndpointDescription {
  const { server, serverCertificate, securityMode, securityPolicyUri, userIdentityTokens } = endpoint;
  const { transportProfileUri, securityLevel } = endpoint;
  const copy = new EndpointDescription({
    endpointUrl,
    server: reachedAt(server, endpointUrl),
    serverCertificate,
    securityMode,
    securityPolicyUri,
    userIdentityTokens,
    transportProfileUri,
    securityLevel,
  });
  return Object.assign(copy, { restricted: Reflect.get(endpoint, "restricted") });
}
