import { createHash, X509Certificate } from "node:crypto";
import type { RefusalAudit } from "../../contracts/commander.ts";
import type { Command } from "../../domain/command.ts";
import { refusal } from "../../domain/outcome.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { createLogOnDelays, createLogOnHold, createLogOnReports } from "../../platform/log-on-delay.ts";
import { createPasswordQueue } from "../../platform/password.ts";
import { LEAST_RSA_BITS } from "../../platform/tls-files.ts";
import type { OpcUaUser } from "./options.ts";
import { sourceOf } from "./security.ts";

/** A log-on: of one user, from one address, with one client program. */
export interface Applicant {
  readonly name: string;
  readonly origin: NonNullable<Command["origin"]>;
  /** Whether the client is still connected. */
  isThere(): boolean;
}

/** Delays the log-ons that follow failed ones, and reports failed ones, within bounds. */
export interface LogOnGate {
  /**
   * Calls `compare` when the delay is over, in its turn, which ends when the result settles; calls `refuse`
   * if too many wait.
   */
  pass(applicant: Applicant, compare: () => Promise<void>, refuse: () => void): void;
  succeeded(applicant: Applicant): void;
  /** @param why a sentence without its end */
  failed(applicant: Applicant, why: string): void;
  /** The same for a certificate, which nobody can guess: within a delay it is not reported again. */
  failedAgain(applicant: Applicant, why: string): void;
}

/** @param isUser whether the configuration has a user of this name */
export function createLogOnGate(
  isUser: (name: string) => boolean,
  clock: Clock,
  log: Log,
  audit: RefusalAudit,
): LogOnGate {
  const delays = createLogOnDelays(clock);
  const hold = createLogOnHold(delays, clock);
  const queue = createPasswordQueue();
  const reports = createLogOnReports(clock, isUser, (count) => {
    report("", {}, `${count} more log-ons have failed within a minute`);
    log.warn({ count }, "more OPC UA log-ons were refused than the log names");
  });

  function report(name: string, origin: Applicant["origin"], reason: string): void {
    const source = sourceOf({ name });
    const request = { source, requestId: null, operation: "log_on", robotId: null, origin };
    audit.refused({ ...request, isLogged: true }, refusal("NOT_ALLOWED", reason));
  }

  const gate: LogOnGate = {
    pass(applicant, compare, refuse) {
      const { name, origin } = applicant;
      const isThere = () => applicant.isThere();
      const whose = { address: origin.address ?? "", user: isUser(name) ? name : null, isThere };
      const attempt = async () => {
        if ((await queue.take(whose, compare)) === "busy") refuse();
      };
      hold.pass({ who: whoIs(applicant), isThere }, () => void attempt(), refuse);
    },
    succeeded: (applicant) => delays.succeeded(...whoIs(applicant)),
    failed(applicant, why) {
      const { count, delayMs } = delays.failed(...whoIs(applicant));
      const { name, origin } = applicant;
      const reported = reports.nameOf(name);
      if (reported === null) return;
      const user = isCertificateName(name) ? name : reported;
      report(user, origin, `${why}; failed log-ons in a row: ${count}`);
      const from = origin.address;
      log.warn({ user, from, reason: why, count, delayMs }, "an OPC UA log-on was refused");
    },
    failedAgain(applicant, why) {
      if (delays.waitMs(...whoIs(applicant)) === 0) gate.failed(applicant, why);
    },
  };
  return gate;
}

function whoIs({ name, origin }: Applicant): readonly string[] {
  return [name, origin.address ?? "", origin.certificate ?? ""];
}

/** The user of a certificate, compared byte for byte. */
export function userOfCertificate(
  users: readonly OpcUaUser[],
  certificate: Buffer | null,
): OpcUaUser | undefined {
  if (certificate === null || certificate.length === 0) return undefined;
  const digests = ["sha1", "sha256"].map((name) => createHash(name).update(certificate).digest("hex"));
  return users.find((user) => user.certificate !== undefined && digests.includes(user.certificate));
}

export function certificateName(certificate: Buffer | null): string {
  return `certificate ${createHash("sha1")
    .update(certificate ?? "")
    .digest("hex")}`;
}

const isCertificateName = (name: string) => /^certificate [0-9a-f]{40}$/.test(name);

/** Why a user's certificate cannot be used now; null: it can. */
export function certificateProblem(der: Buffer, nowMs: number): string | null {
  try {
    const { validFrom, validTo, publicKey } = new X509Certificate(der);
    if (Date.parse(validTo) <= nowMs) return `its certificate has expired on ${validTo}`;
    if (Date.parse(validFrom) > nowMs) return `its certificate is not valid before ${validFrom}`;
    const bits = publicKey.asymmetricKeyDetails?.modulusLength ?? 0;
    return publicKey.asymmetricKeyType === "rsa" && bits >= LEAST_RSA_BITS
      ? null
      : `its certificate needs an RSA key of at least ${LEAST_RSA_BITS} bits`;
  } catch {
    return "its certificate cannot be read";
  }
}
