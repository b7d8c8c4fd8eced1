import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type {
  CertificateAudit,
  ClientCertificate,
  ClientCertificates,
} from "../../contracts/client-certificates.ts";
import type { RefusalAudit } from "../../contracts/commander.ts";
import type { Source } from "../../domain/command.ts";
import { refusal } from "../../domain/outcome.ts";
import type { ConfirmUser } from "./access/access.ts";
import type { Certificate } from "./api/gateway.ts";
import { sendProblem } from "./problem.ts";
import { readBody } from "./request-body.ts";
import { type Query, sendPage } from "./resources/list-page.ts";
import { openViewer, type SenderOf, type Viewer, type ViewerOf } from "./sender.ts";

interface CertificateRouteParts {
  /** Null: the gateway has no OPC UA. */
  readonly clientCertificates: ClientCertificates | null;
  readonly audit: RefusalAudit & CertificateAudit;
  readonly viewerOf: ViewerOf;
  readonly senderOf: SenderOf;
  readonly confirm: ConfirmUser;
}

interface Route {
  readonly Params: { readonly thumbprint: string };
}

const PATH = "/api/v1/certificates";
const LONGEST_PASSWORD = 256;
/** Each character may be escaped in JSON. */
const BODY_BYTES = LONGEST_PASSWORD * 6 + 128;
const ON_THE_MACHINE = "use fleetgate certs on the gateway's machine";
const NO_OPCUA = "the gateway has no OPC UA server";
const NO_USERS = `nobody logs in here, so no password shows who decides; ${ON_THE_MACHINE}`;
const NO_PASSWORD = `a token has no password: log in as a user, or ${ON_THE_MACHINE}`;
const NO_ENGINEER = "only engineers for all robots decide whom OPC UA trusts";

/**
 * `GET /api/v1/certificates`: the certificates of OPC UA clients. `PUT /api/v1/certificates/{thumbprint}`
 * with `{"trusted","password"}` trusts a client or rejects it, for engineers that give their password again.
 * Users of the machine have `fleetgate certs`, so the control socket has neither route.
 */
export function addCertificateRoutes(
  server: FastifyInstance,
  { clientCertificates, audit, viewerOf, senderOf, confirm }: CertificateRouteParts,
): void {
  server.get<{ Querystring: Query }>(PATH, async (request, reply) => {
    const items = (await clientCertificates?.list()) ?? [];
    const whyNot = clientCertificates === null ? NO_OPCUA : refusedViewer(viewerOf(request));
    return sendPage(
      reply,
      request.query,
      {
        name: "certificates",
        items: items.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)),
        keyOf,
        write: certificateJson,
      },
      { why_not: whyNot ?? "" },
    );
  });

  server.put<Route>(`${PATH}/:thumbprint`, { bodyLimit: BODY_BYTES }, async (request, reply) => {
    const { thumbprint } = request.params;
    const asked = readAsked(request.body);
    const [source] = senderOf(request);
    const refuse = (status: number, why: string) => {
      refusalText(audit, request, source, why);
      return sendProblem(reply, status, why);
    };
    if (typeof asked === "string") return sendProblem(reply, 400, asked);
    if (clientCertificates === null) return sendProblem(reply, 404, NO_OPCUA);
    const refused = refusedViewer(viewerOf(request));
    if (refused !== null) return refuse(403, refused);
    const confirmed = await confirm(request, asked.password);
    if (confirmed.kind === "open") return refuse(403, NO_USERS);
    if (confirmed.kind === "no_user") return refuse(403, NO_PASSWORD);
    if (confirmed.kind !== "right") return refuseUnconfirmed(reply, confirmed, refuse);
    // A reload may have taken the role while the password was compared.
    const gone = refusedViewer(confirmed.user);
    if (gone !== null) return refuse(403, gone);
    const decision = await clientCertificates.decide(thumbprint, asked.isTrusted);
    if (decision.kind === "unknown")
      return sendProblem(reply, 404, "no client's certificate has this thumbprint");
    if (decision.kind === "refused") return refuse(409, decision.reason);
    const { certificate, isNew } = decision;
    const { subject } = certificate;
    const { isTrusted } = asked;
    if (isNew) audit.certificate({ source, address: request.ip, thumbprint, subject, isTrusted });
    return reply.send(certificateJson(certificate));
  });
}

/** Why a viewer may not decide, as a sentence; null: it may. */
function refusedViewer(viewer: Viewer | null): string | null {
  if (viewer === null || viewer === openViewer) return NO_USERS;
  return viewer.role === "engineer" && viewer.robots === null ? null : NO_ENGINEER;
}

function refuseUnconfirmed(
  reply: FastifyReply,
  { kind, delayMs }: { readonly kind: "wrong" | "later"; readonly delayMs: number },
  refuse: (status: number, why: string) => FastifyReply,
): FastifyReply {
  reply.header("retry-after", Math.ceil(delayMs / 1_000));
  // Not 401: the session stays valid.
  if (kind === "wrong") return refuse(403, "the password is wrong");
  return sendProblem(reply, 429, "too many attempts: try again later");
}

function refusalText(
  audit: RefusalAudit,
  { params, ip }: FastifyRequest<Route>,
  source: Source,
  why: string,
): void {
  const request = { source, requestId: params.thumbprint, operation: "certificate", robotId: null };
  audit.refused({ ...request, origin: { address: ip } }, refusal("NOT_ALLOWED", why));
}

/** The decision in a body, or a sentence with what is wrong with it. */
function readAsked(body: unknown): { readonly isTrusted: boolean; readonly password: string } | string {
  const read = readBody(body, ["trusted", "password"]);
  if (!read.ok) return read.reason;
  const { trusted, password } = read.object;
  if (typeof trusted !== "boolean") return "trusted: must be true or false";
  if (typeof password !== "string" || password === "" || password.length > LONGEST_PASSWORD)
    return `password: must be text of 1 to ${LONGEST_PASSWORD} characters`;
  return { isTrusted: trusted, password };
}

/** Sort key: those that wait come first. */
function keyOf({ isTrusted, thumbprint }: ClientCertificate): string {
  return `${Number(isTrusted)}${thumbprint}`;
}

function certificateJson(certificate: ClientCertificate): Certificate {
  const { thumbprint, isTrusted, since, subject, issuer, applicationUri } = certificate;
  return {
    thumbprint,
    state: isTrusted ? "trusted" : "waiting",
    since,
    subject,
    issuer,
    application_uri: applicationUri,
    ca: certificate.isCa,
    configured: certificate.isConfigured,
    valid_from: certificate.validFrom,
    valid_to: certificate.validTo,
    warnings: certificate.warnings,
  };
}
