import { type Socket, setDefaultAutoSelectFamilyAttemptTimeout } from "node:net";
import type { PeerCertificate } from "node:tls";
import { messageOf } from "./error-text.ts";
import { STRONG_ENOUGH } from "./tls-files.ts";
import { urlHost } from "./url-host.ts";

/** The server of a connection, and the keys of the configuration that decide about it. */
export interface Peer {
  /** The key with the address, as `fleet.grpc.address`. */
  readonly key: string;
  readonly host: string;
  readonly port: number;
  /** The keys of the trusted CA and of our own certificate; null: there is none. */
  readonly caKey: string | null;
  readonly certificateKey: string | null;
}

/** What is wrong with a connection, and what a person can do. */
export interface ConnectFault {
  readonly what: string;
  readonly advice: string;
}

type Evaluate = (peer: Peer, error: Error, clock: string) => ConnectFault;

const untrusted: Evaluate = ({ caKey }, error) => ({
  what: `the server's certificate is from a CA that is not trusted${issuerOf(error)}`,
  advice: `let ${caKey ?? "the system"} name the certificate of the CA that issued the server's`,
});
const asksForCertificate: Evaluate = ({ certificateKey }) => ({
  what: "the server refuses the gateway's own certificate, or that there is none",
  advice: `let ${certificateKey ?? "the configuration"} name a certificate that the server trusts`,
});
const weakOwn: Evaluate = ({ certificateKey }) => ({
  what: "TLS does not take the gateway's own certificate: its key is too short, or its signature too weak",
  advice: `let ${certificateKey ?? "the configuration"} name a certificate with ${STRONG_ENOUGH}`,
});
const weakServer = (weakness: string): ConnectFault => ({
  what: `the server's certificate, or that of its CA, is too weak: ${weakness}`,
  advice: `the server needs certificates with ${STRONG_ENOUGH}`,
});
/** Node.js has no code for weak certificates, only OpenSSL's sentence. */
const otherDistrust: Evaluate = ({ key }, { message }) =>
  /too weak/i.test(message)
    ? weakServer(shown(message))
    : {
        what: `the server's certificate is not accepted: ${shown(message)}`,
        advice: `look at the certificates of the server in ${key}`,
      };
const oldTls: Evaluate = ({ host, port }) => ({
  what: "the server speaks TLS 1.1 or older only, which is not safe",
  advice: `let the server on ${host}, port ${port}, speak TLS 1.2 or 1.3`,
});
const noTls: Evaluate = ({ key, port }) => ({
  what: "the port does not speak TLS",
  advice: `let ${key} name the port for TLS; ${port} is another`,
});
const noProtocol: Evaluate = ({ key }) => ({
  what: "the server speaks another protocol on this port",
  advice: `let ${key} name the other port; the ports for gRPC and for HTTPS may be swapped`,
});
/** Of the addresses of a name, in a text. */
const MOST_ADDRESSES = 4;
/** No name server has to know this name: it stands in the machine's own file. */
const LOCAL_NAME_ADVICE = 'let /etc/hosts have the line "127.0.0.1 localhost"';
const noName: Evaluate = ({ key, host }) => ({
  what: `the name ${host} cannot be resolved`,
  advice:
    host === "localhost"
      ? LOCAL_NAME_ADVICE
      : `correct the name in ${key}, or let this machine's name server know it`,
});
const noRoute: Evaluate = ({ host, port }) => ({
  what: "no way leads there",
  advice: `look at cable, address and gateway of this machine, and let firewalls pass ${host}, port ${port}`,
});
const late: Evaluate = ({ host, port }, error) => ({
  what: `there is no answer in time${bracketed(addressesOf(error, host))}`,
  advice: `let firewalls pass ${host}, port ${port}, or look whether the server runs`,
});

const evaluators: Readonly<Record<string, Evaluate>> = {
  ENOTFOUND: noName,
  EAI_AGAIN: ({ host }) => ({
    what: `the name ${host} cannot be resolved: no name server answers`,
    advice:
      host === "localhost"
        ? LOCAL_NAME_ADVICE
        : "look at the name servers of this machine (/etc/resolv.conf)",
  }),
  ECONNREFUSED: ({ key, host, port }, error) => ({
    what: `nothing listens there (${["ECONNREFUSED", ...addressesOf(error, host)].join("; ")})`,
    advice: `look whether the server runs on ${host}, and whether ${port} is the right port in ${key}`,
  }),
  ECONNRESET: ({ host, port }) => ({
    what: "the other side cut the connection (ECONNRESET)",
    advice: `look whether a firewall or another program stands before ${host}, port ${port}`,
  }),
  EHOSTUNREACH: noRoute,
  ENETUNREACH: noRoute,
  ETIMEDOUT: late,
  UND_ERR_CONNECT_TIMEOUT: late,
  CERT_HAS_EXPIRED: (_, error, clock) => ({
    what: `the server's certificate has expired${dateOf(error, "valid_to")}; this machine's clock says ${clock}`,
    advice: "if this clock is right, the server needs a new certificate; else set this machine's clock",
  }),
  CERT_NOT_YET_VALID: (_, error, clock) => ({
    what: `the server's certificate is not yet valid${dateOf(error, "valid_from")}; this machine's clock says ${clock}`,
    advice: "set this machine's clock, if it is behind; else the server's certificate is wrong",
  }),
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  CERT_SIGNATURE_FAILURE: untrusted,
  ERR_TLS_CERT_ALTNAME_INVALID: ({ key, host }, error) => ({
    what: `the server's certificate is not for ${host}${namesOf(error)}`,
    advice: `write into ${key} the name that the certificate is for`,
  }),
  UNSPECIFIED: otherDistrust,
  ERR_SSL_EE_KEY_TOO_SMALL: weakOwn,
  ERR_SSL_CA_KEY_TOO_SMALL: weakOwn,
  ERR_SSL_CA_MD_TOO_WEAK: weakOwn,
  ERR_SSL_DH_KEY_TOO_SMALL: ({ host, port }) => ({
    what: "the server's Diffie-Hellman key is too short",
    advice: `let the server on ${host}, port ${port}, use ECDHE, or Diffie-Hellman with 2048 bits or more`,
  }),
  ERR_SSL_UNSUPPORTED_PROTOCOL: oldTls,
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: oldTls,
  ERR_SSL_WRONG_VERSION_NUMBER: noTls,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: noTls,
  ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL: noProtocol,
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: asksForCertificate,
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: asksForCertificate,
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED: asksForCertificate,
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: asksForCertificate,
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: asksForCertificate,
};

/**
 * What is wrong with the connection, in words; null: the error is not known.
 *
 * @param clock the time of this machine's clock, for certificates
 */
export function connectFault(error: unknown, peer: Peer, clock: string): ConnectFault | null {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; depth += 1) {
    const evaluate = evaluators[codeOf(at) ?? ""];
    if (evaluate !== undefined) return evaluate(peer, at, clock);
    at = at instanceof AggregateError ? at.errors[0] : at.cause;
  }
  return null;
}

/** The same in one line with address and key; `otherwise` for an error that is not known. */
export function connectFaultText(error: unknown, peer: Peer, clock: string, otherwise: string): string {
  const fault = connectFault(error, peer, clock);
  const address = `${urlHost(peer.host)}:${peer.port}`;
  return fault === null
    ? `${peer.key} (${address}): ${otherwise}`
    : `${peer.key} (${address}): ${fault.what}; ${fault.advice}`;
}

/** The same for a user who checks this connection alone. */
export function connectFaultOf(error: unknown, peer: Peer, nowMs: number): ConnectFault {
  return (
    connectFault(error, peer, utc(nowMs)) ?? {
      what: messageOf(error),
      advice: `look at ${peer.key} and at the server there`,
    }
  );
}

function codeOf(error: Error): string | null {
  return "code" in error && typeof error.code === "string" ? error.code : null;
}

/**
 * The addresses of the server's name, as a part of a sentence or empty. Sorted, because a name server gives
 * them in any order.
 */
function addressesOf(error: Error, host: string): readonly string[] {
  const tries: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
  const found = tries.flatMap((each) => {
    if (!(each instanceof Error)) return [];
    const tried: unknown = Reflect.get(each, TRIED);
    return [Reflect.get(each, "address"), ...(Array.isArray(tried) ? tried : [])].filter(
      (address): address is string => typeof address === "string" && address !== host,
    );
  });
  const addresses = [...new Set(found)].sort().slice(0, MOST_ADDRESSES);
  return addresses.length === 0 ? [] : [`${host} leads to ${addresses.join(", ")}`];
}

function bracketed(parts: readonly string[]): string {
  return parts.length === 0 ? "" : ` (${parts.join("; ")})`;
}

const TRIED = "tried";

/** The error of a connection that took too long, with the addresses that were tried. */
export function lateError(socket: Socket): Error {
  const tried = (socket.autoSelectFamilyAttemptedAddresses ?? []).map((each) => each.replace(/:\d+$/, ""));
  return Object.assign(new Error("no answer in time"), { code: "ETIMEDOUT", [TRIED]: tried });
}

const ATTEMPT_MS = 2_000;

/**
 * Gives each address of a name time for a long way, such as by satellite: three round trips of 600 ms.
 * Node.js gives it 250 ms, and tries no address twice. It holds for the whole process, so call it before the
 * first connection.
 *
 * @param connectMs how long a connection may take: the second address must have its time too
 */
export function allowLongWays(connectMs: number): void {
  setDefaultAutoSelectFamilyAttemptTimeout(Math.floor(Math.min(ATTEMPT_MS, connectMs / 2)));
}

/** The server's certificate, if the error carries it. */
function certificateOf(error: Error): Partial<PeerCertificate> | null {
  const certificate: unknown = Reflect.get(error, "cert");
  return typeof certificate === "object" && certificate !== null ? certificate : null;
}

function dateOf(error: Error, field: "valid_from" | "valid_to"): string {
  const atMs = Date.parse(certificateOf(error)?.[field] ?? "");
  if (Number.isNaN(atMs)) return "";
  return field === "valid_to" ? ` on ${utc(atMs)}` : `, but from ${utc(atMs)} on`;
}

function issuerOf(error: Error): string {
  const issuer = certificateOf(error)?.issuer;
  const name = issuer?.CN ?? issuer?.O;
  return name === undefined ? "" : ` (issuer: ${shown(String(name))})`;
}

function namesOf(error: Error): string {
  const names = certificateOf(error)?.subjectaltname;
  return names === undefined ? "" : `; it is for ${shown(names)}`;
}

const LONGEST_NAME = 200;

/** A server's own text, on one line. */
function shown(text: string): string {
  const line = text.replace(/\p{Cc}/gu, " ");
  return line.length > LONGEST_NAME ? `${line.slice(0, LONGEST_NAME)}…` : line;
}

function utc(atMs: number): string {
  return new Date(atMs).toISOString().replace(/\.\d+/, "");
}
