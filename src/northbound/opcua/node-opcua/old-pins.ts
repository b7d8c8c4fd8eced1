import { createHash } from "node:crypto";
import { AsymmetricAlgorithmSecurityHeader, BinaryStream, type OPCUAServer } from "node-opcua";
import type { Clock } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/log.ts";
import { nameOfClient } from "../client-certificates.ts";
import { createRefusalLog } from "./refusal-log.ts";

/** Clients that open a secure channel with another certificate than the server's. */
export interface OldPins {
  readonly count: number;
  /** Checks a frame that opens a secure channel (OPC UA part 6, 6.7.2). */
  see(frame: Buffer, from: string): void;
}

/** Message type, chunk flag, length and channel (OPC UA part 6, 6.7.2.2). */
const HEADER_BYTES = 12;
const DO = "let the client trust and use the gateway's certificate of now, and remove the old one there";

/**
 * Counts and logs clients that have kept an old certificate of the server. node-opcua 2.182 cannot decrypt
 * their messages, or refuses them, and reports no name. For an initialised server.
 */
export function reportOldPins(server: OPCUAServer, clock: Clock, log: Log): OldPins {
  const refusals = createRefusalLog(
    clock,
    log,
    "more OPC UA clients were refused because they have kept an old certificate of the gateway",
  );
  return {
    get count() {
      return refusals.count;
    },
    see(frame, from) {
      const header = headerOf(frame);
      if (header === null) return;
      const { senderCertificate, receiverCertificateThumbprint: wanted } = header;
      if (!senderCertificate?.length || !wanted?.length) return;
      const own = createHash("sha1").update(server.getCertificate()).digest();
      if (own.equals(wanted)) return;
      const expects = wanted.subarray(0, own.length).toString("hex");
      const client = { ...nameOfClient(senderCertificate), from };
      const why = "it has kept another certificate of the gateway than the one of now";
      const fields = { ...client, expects, gatewayHas: own.toString("hex"), why, do: DO };
      refusals.note(`${client.thumbprint} ${from} ${expects}`, fields);
    },
  };
}

/** Null: it cannot be read. node-opcua refuses it. */
function headerOf(frame: Buffer): AsymmetricAlgorithmSecurityHeader | null {
  try {
    const header = new AsymmetricAlgorithmSecurityHeader();
    header.decode(new BinaryStream(frame.subarray(HEADER_BYTES)));
    return header;
  } catch {
    return null;
  }
}
