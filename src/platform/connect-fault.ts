import type { PeerCertificate } from "node:tls";
import { messageOf } from "./error-text.ts";

/** Where a connection goes, and the keys of the configuration that decide about it. */
export interface Peer {
  /** The key with the address, as `fleet.grpc.address`. */
  readonly key: string;
  readonly host: string;
  readonly port: number;
  /** The key of the authority that is trusted, and of our own certificate; null where there are none. */
  readonly caKey: string | null;
  readonly certificateKey: string | null;
}

/** What is wrong with a connection, and what a person can do. */
export interface ConnectFault {
  readonly what: string;
  readonly advice: string;
}

type Judge = (peer: Peer, error: Error, clock: string) => ConnectFault;

const untrusted: Judge = ({ caKey }, error) => ({
  what: `the server's certificate is from an authority that is not trusted${issuerOf(error)}`,
  advice: `let ${caKey ?? "the system"} name the certificate of the authority that issued the server's`,
});
const asksForCertificate: Judge = ({ certificateKey }) => ({
  what: "the server refuses the gateway's own certificate, or that there is none",
  advice: `let ${certificateKey ?? "the configuration"} name a certificate that the server trusts`,
});
const noTls: Judge = ({ key, port }) => ({
  what: "the port does not speak TLS",
  advice: `let ${key} name the port for TLS; ${port} is another`,
});
const noProtocol: Judge = ({ key }) => ({
  what: "the server speaks another protocol on this port",
  advice: `let ${key} name the other port; the ports for gRPC and for HTTPS may be swapped`,
});
/** Of a name, in a text. */
const MOST_ADDRESSES = 4;
/** No name server has to know that name: the machine's own file does. */
const LOCAL_NAME_ADVICE = 'let /etc/hosts have the line "127.0.0.1 localhost"';
const noName: Judge = ({ key, host }) => ({
  what: `the name ${host} cannot be resolved`,
  advice:
    host === "localhost"
      ? LOCAL_NAME_ADVICE
      : `correct the name in ${key}, or let this machine's name server know it`,
});
const noRoute: Judge = ({ host, port }) => ({
  what: "no way leads there",
  advice: `look at cable, address and gateway of this machine, and let firewalls pass ${host}, port ${port}`,
});
const late: Judge = ({ host, port }) => ({
  what: "there is no answer in time",
  advice: `let firewalls pass ${host}, port ${port}, or look whether the server runs`,
});

const judges: Readonly<Record<string, Judge>> = {
  ENOTFOUND: noName,
  EAI_AGAIN: ({ host }) => ({
    what: `the name ${host} cannot be resolved: no name server answers`,
    advice:
      host === "localhost"
        ? LOCAL_NAME_ADVICE
        : "look at the name servers of this machine (/etc/resolv.conf)",
  }),
  ECONNREFUSED: ({ key, host, port }, error) => ({
    what: `nothing listens there (ECONNREFUSED${addressesOf(error, host)})`,
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
 * What is wrong with the connection, in words; null for an error that is not known.
 * @param clock what this machine's clock says, for certificates
 */
export function connectFault(error: unknown, peer: Peer, clock: string): ConnectFault | null {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; depth += 1) {
    const judge = judges[codeOf(at) ?? ""];
    if (judge !== undefined) return judge(peer, at, clock);
    at = at instanceof AggregateError ? at.errors[0] : at.cause;
  }
  return null;
}

/** The same in one line with address and key; `otherwise` for an error that is not known. */
export function connectFaultText(error: unknown, peer: Peer, clock: string, otherwise: string): string {
  const fault = connectFault(error, peer, clock);
  const address = peer.host.includes(":") ? `[${peer.host}]:${peer.port}` : `${peer.host}:${peer.port}`;
  return fault === null
    ? `${peer.key} (${address}): ${otherwise}`
    : `${peer.key} (${address}): ${fault.what}; ${fault.advice}`;
}

/** The same for a person who looks at this connection alone. */
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

/** Where the name of the server led; in order, because a name server may give its addresses in any. */
function addressesOf(error: Error, host: string): string {
  const tries: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
  const found = tries.flatMap((each) => {
    const address: unknown = each instanceof Error ? Reflect.get(each, "address") : undefined;
    return typeof address === "string" && address !== host ? [address] : [];
  });
  const addresses = [...new Set(found)].sort().slice(0, MOST_ADDRESSES);
  return addresses.length === 0 ? "" : `; ${host} leads to ${addresses.join(", ")}`;
}

/** The server's certificate, where the error carries it. */
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
