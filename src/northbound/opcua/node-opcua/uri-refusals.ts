import { X509Certificate } from "node:crypto";
import { type CreateSessionRequest, type OPCUAServer, ServiceFault, StatusCodes } from "node-opcua";
import type { Clock } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/log.ts";
import { plainStart } from "../../../platform/plain-text.ts";
import { nameOfClient } from "../client-certificates.ts";
import { createRefusalLog } from "./client-refusals.ts";
import { type Answering, onAnswers } from "./lower.ts";

/** Clients whose certificate names another application than their session. */
export interface UriRefusals {
  readonly count: number;
}

/** The parts of node-opcua's channel that are needed here. */
interface Channel extends Answering {
  readonly remoteAddress: string;
  readonly clientCertificate: Buffer | null;
}

const LONGEST_URI = 200;

/**
 * Counts and logs clients whose certificate is trusted, and names another application than their session (OPC
 * UA part 4, 5.6.2): node-opcua 2.182 refuses the session, and reports it to nobody. For an initialised
 * server that does not listen yet.
 */
export function reportUriRefusals(server: OPCUAServer, clock: Clock, log: Log): UriRefusals {
  const refusals = createRefusalLog(
    clock,
    log,
    "more OPC UA clients were refused for the URI of their certificates",
  );

  function report(chain: Buffer, from: string, said: string): void {
    const applicationUri = plainStart(said, LONGEST_URI);
    const client = { ...nameOfClient(chain), from, applicationUri };
    const uris = urisOf(chain);
    const status = StatusCodes.BadCertificateUriInvalid.name;
    const fields = { ...client, uris, status, why: reasonOf(uris) };
    refusals.note(`${client.thumbprint} ${from} ${applicationUri}`, fields);
  }

  onAnswers<Channel>(server, (send, channel) => (type, response, message, done) => {
    const { clientCertificate, remoteAddress } = channel;
    if (isUriRefusal(response) && clientCertificate !== null) {
      const { clientDescription } = message.request as CreateSessionRequest;
      report(clientCertificate, remoteAddress, clientDescription.applicationUri ?? "");
    }
    send(type, response, message, done);
  });
  return {
    get count() {
      return refusals.count;
    },
  };
}

function isUriRefusal(response: unknown): boolean {
  return (
    response instanceof ServiceFault &&
    response.responseHeader.serviceResult === StatusCodes.BadCertificateUriInvalid
  );
}

function reasonOf(uris: readonly string[]): string {
  if (uris.length === 0) return "its certificate has no URI in its subjectAltName";
  return uris.length > 1
    ? "its certificate has more than one URI in its subjectAltName"
    : "its certificate is for another application than the client says";
}

/** The URIs in a certificate's subjectAltName; empty: it cannot be read. */
function urisOf(chain: Buffer): readonly string[] {
  try {
    const names = new X509Certificate(chain).subjectAltName?.split(", ") ?? [];
    return names.flatMap((name) =>
      name.startsWith("URI:") ? [plainStart(name.slice("URI:".length), LONGEST_URI)] : [],
    );
  } catch {
    return [];
  }
}
