import {
  type OPCUAServer,
  type StatusCode,
  StatusCodes,
  UserNameIdentityToken,
  X509IdentityToken,
} from "node-opcua";
import type { RefusalAudit } from "../../../contracts/commander.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/log.ts";
import {
  type Applicant,
  certificateName,
  certificateProblem,
  createLogOnGate,
  userOfCertificate,
} from "../log-on-gate.ts";
import type { OpcUaOptions } from "../options.ts";
import { originOfChannel } from "../security.ts";
import { lower } from "./lower.ts";

/** The parts of node-opcua's channel and messages that are needed here. */
interface Channel {
  readonly clientCertificate: Buffer | null;
  readonly remoteAddress: string;
  readonly isOpened: boolean;
}
interface Message {
  readonly request: { userIdentityToken?: unknown };
}
type Answer = (error: Error | null, status?: StatusCode) => void;
type Authorized = (error: Error | null, isAuthorized?: boolean, status?: StatusCode) => void;
interface LogOnServer {
  _on_ActivateSessionRequest(message: Message, channel: Channel): void;
  isValidUserIdentityToken(
    channel: Channel,
    session: unknown,
    token: unknown,
    signature: unknown,
    endpoint: unknown,
    answer: Answer,
  ): void;
  isUserAuthorized(channel: Channel, session: unknown, token: unknown, answer: Authorized): void;
}
interface CertificateChecker {
  checkCertificate(certificate: Buffer, answer: Answer): void;
}

/**
 * The certificates of the replaced tokens, with the name of the configuration. So sessions, roles and shares
 * see that user, and never the common name, which the client chose.
 */
const proofs = new WeakMap<UserNameIdentityToken, X509IdentityToken>();

function proofOf(token: unknown): X509IdentityToken | undefined {
  return token instanceof UserNameIdentityToken ? proofs.get(token) : undefined;
}

function certifiedUser(name: string, proof: X509IdentityToken): UserNameIdentityToken {
  const token = new UserNameIdentityToken({
    userName: name,
    policyId: proof.policyId,
    password: Buffer.alloc(0),
  });
  proofs.set(token, proof);
  return token;
}

/**
 * Lets users log on by the thumbprint of a certificate, and delays the attempts that follow failed ones. For
 * an initialised server. Refusals are audited.
 */
export function checkLogOns(
  server: OPCUAServer,
  options: OpcUaOptions,
  clock: Clock,
  log: Log,
  audit: RefusalAudit,
): void {
  const isUser = (name: string) => options.users.now().some((user) => user.name === name);
  const gate = createLogOnGate(isUser, clock, log, audit);
  const own = lower<LogOnServer>(server, "isValidUserIdentityToken");
  const activate = own._on_ActivateSessionRequest.bind(server);
  const isValid = own.isValidUserIdentityToken.bind(server);
  const isAuthorized = own.isUserAuthorized.bind(server);

  const replaced: LogOnServer = {
    _on_ActivateSessionRequest(message, channel) {
      const { userIdentityToken: token } = message.request;
      if (token instanceof X509IdentityToken) {
        const user = userOfCertificate(options.users.now(), token.certificateData);
        if (user !== undefined) message.request.userIdentityToken = certifiedUser(user.name, token);
      }
      return activate(message, channel);
    },
    isValidUserIdentityToken(channel, session, token, signature, endpoint, answer) {
      if (token instanceof X509IdentityToken) {
        gate.failedAgain(
          applicant(certificateName(token.certificateData), channel),
          "no user has this certificate",
        );
        answer(null, StatusCodes.BadIdentityTokenRejected);
        return;
      }
      const proof = proofOf(token);
      if (proof === undefined) {
        isValid(channel, session, token, signature, endpoint, answer);
        return;
      }
      const user = applicant(
        userOfCertificate(options.users.now(), proof.certificateData)?.name ?? "",
        channel,
      );
      const problem = certificateProblem(proof.certificateData, clock.nowMs());
      if (problem !== null) {
        gate.failedAgain(user, problem);
        answer(null, StatusCodes.BadIdentityTokenRejected);
        return;
      }
      isValid(channel, session, proof, signature, endpoint, (error, status) => {
        if (error === null && status?.isGood() !== true)
          gate.failedAgain(user, `it did not prove that it has the certificate's key (${status?.name})`);
        answer(error, status);
      });
    },
    isUserAuthorized(channel, session, token, answer) {
      const proof = proofOf(token);
      // A reload may have removed the user, or its certificate, meanwhile.
      if (proof !== undefined)
        answer(null, userOfCertificate(options.users.now(), proof.certificateData)?.name === nameIn(token));
      else if (!(token instanceof UserNameIdentityToken)) isAuthorized(channel, session, token, answer);
      else {
        const user = applicant(token.userName ?? "", channel);
        const compare = () =>
          new Promise<void>((resolve) =>
            isAuthorized(channel, session, token, (error, isUser, status) => {
              resolve();
              if (error === null && isUser === true) gate.succeeded(user);
              else if (error === null) gate.failed(user, "wrong password, or no such user");
              answer(error, isUser, status);
            }),
          );
        gate.pass(user, compare, () => answer(null, false, StatusCodes.BadUserAccessDenied));
      }
    },
  };
  Object.assign(server, replaced);
  // The list of users decides, and no folder of node-opcua's.
  const checker = lower<CertificateChecker>(server.userCertificateManager, "checkCertificate");
  Reflect.set(checker, "checkCertificate", (certificate: Buffer, answer: Answer) => {
    const isKnown = userOfCertificate(options.users.now(), certificate) !== undefined;
    answer(null, isKnown ? StatusCodes.Good : StatusCodes.BadCertificateUntrusted);
  });
}

function nameIn(token: unknown): string | null {
  return token instanceof UserNameIdentityToken ? token.userName : null;
}

function applicant(name: string, channel: Channel): Applicant {
  return { name, origin: originOfChannel(channel), isThere: () => channel.isOpened };
}
