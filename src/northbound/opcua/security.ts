import { join } from "node:path";
import {
  AnonymousIdentityToken,
  type ISessionContext,
  MessageSecurityMode,
  makePermissionFlag,
  makeRoles,
  OPCUACertificateManager,
  type OPCUAServer,
  type OPCUAServerOptions,
  type RolePermissionTypeOptions,
  resolveNodeId,
  SecurityPolicy,
  UserNameIdentityToken,
  type UserTokenPolicy,
  UserTokenType,
  WellKnownRoles,
} from "node-opcua";
import type { Command, Role, Source } from "../../domain/command.ts";
import type { Clock } from "../../platform/clock.ts";
import { describeError } from "../../platform/error-text.ts";
import type { Log } from "../../platform/log.ts";
import { isPassword } from "../../platform/password.ts";
import { placeTrustList } from "./certificate-content.ts";
import { thumbprintOf } from "./certificate-store/certificate-facts.ts";
import { type ClientCertificates, createClientCertificates } from "./client-certificates.ts";
import { cached } from "./node-opcua/lower.ts";
import type { OpcUaOptions, OpcUaUser } from "./options.ts";
import { ownCertificateFile } from "./own-certificate.ts";

/** The user of a session, as the server has authenticated it. */
export interface Account {
  readonly name: string;
  readonly role: Role;
  /** Its number in `AcceptedByNo`, for PLCs without strings; 0: none. */
  readonly number: number;
  /** Its commands are checked, and not sent. */
  readonly isDryRun: boolean;
  /** The client of the session, for the audit log. */
  readonly origin?: NonNullable<Command["origin"]>;
}

/** The security options, with the store that has the server's own key. */
export interface SecurityOptions extends OPCUAServerOptions {
  readonly serverCertificateManager: OPCUACertificateManager;
  readonly clientCertificates: ClientCertificates;
}

/** The name that node-opcua itself gives to anonymous sessions. */
export const ANONYMOUS = "anonymous";
const loopbackHosts = new Set(["127.0.0.1", "::1", "localhost"]);

/**
 * The security options of the server. Signed and encrypted sessions of known certificates and named users;
 * anonymous and unencrypted ones only on loopback, and only if the configuration asks for them by name. Keys
 * are in `pkiFolder`. Rejects insecureLoopback on any other address, and a user called "anonymous".
 */
export async function securityOptions(
  options: OpcUaOptions,
  pkiFolder: string,
  clock: Clock,
  log: Log,
): Promise<SecurityOptions> {
  refuseUnsafe(options);
  const serverFolder = join(pkiFolder, "server");
  const clientCertificates = createClientCertificates(serverFolder, clock, log);
  const serverCertificateManager = clientCertificates.manager;
  const userCertificateManager = new OPCUACertificateManager({
    rootFolder: join(pkiFolder, "users"),
    automaticallyAcceptUnknownCertificate: false,
  });
  await placeTrustList(serverFolder, options.trustList.now()).catch((error: unknown) =>
    log.error(
      { folder: serverFolder, cause: describeError(error) },
      "OPC UA's CAs cannot be written: their clients may be refused",
    ),
  );
  await serverCertificateManager.initialize();
  await userCertificateManager.initialize();
  const insecure = options.insecureLoopback !== null;
  const certificate = options.certificate.now();
  return {
    clientCertificates,
    serverCertificateManager,
    userCertificateManager,
    certificateFile: certificate?.certificateFile ?? ownCertificateFile(serverCertificateManager),
    privateKeyFile: certificate?.keyFile ?? serverCertificateManager.privateKey,
    allowAnonymous: insecure,
    securityModes: insecure
      ? [MessageSecurityMode.None, MessageSecurityMode.SignAndEncrypt]
      : [MessageSecurityMode.SignAndEncrypt],
    securityPolicies: [
      ...(insecure ? [SecurityPolicy.None] : []),
      SecurityPolicy.Basic256Sha256,
      SecurityPolicy.Aes128_Sha256_RsaOaep,
      SecurityPolicy.Aes256_Sha256_RsaPss,
    ],
    userManager: {
      isValidUserAsync(name, password, callback) {
        isUser(() => options.users.now().find((user) => user.name === name), password).then(
          (valid) => callback(null, valid),
          (error: Error) => callback(error),
        );
      },
      getUserRoles(name) {
        const role = options.users.now().find((user) => user.name === name)?.role;
        return makeRoles(role === undefined ? "Anonymous" : opcUaRoles[role]);
      },
    },
  };
}

/** The roles that may write a tag, as clients see them: write requests are checked again, by user. */
export interface WriterPermissions {
  readonly operators: RolePermissionTypeOptions[];
  readonly engineers: RolePermissionTypeOptions[];
}

export function writerPermissions(): WriterPermissions {
  const read = makePermissionFlag("Browse | Read | ReadRolePermissions");
  const write = makePermissionFlag("Browse | Read | ReadRolePermissions | Write");
  const permissionsOf = (ofOperators: number) => [
    { roleId: resolveNodeId(WellKnownRoles.Anonymous), permissions: read },
    { roleId: resolveNodeId(WellKnownRoles.Observer), permissions: read },
    { roleId: resolveNodeId(WellKnownRoles.Operator), permissions: ofOperators },
    { roleId: resolveNodeId(WellKnownRoles.Engineer), permissions: write },
  ];
  return { operators: permissionsOf(write), engineers: permissionsOf(read) };
}

/**
 * Gives sessions without a user the roles of the configuration. Every session has OPC UA's role Anonymous
 * besides its own (node-opcua, getRolesForPermissionEvaluation), so every observer may do what Anonymous may.
 */
export function giveAnonymousRole(server: OPCUAServer, { insecureLoopback }: OpcUaOptions): void {
  if (insecureLoopback === null) return;
  const anonymousRoles = makeRoles(opcUaRoles[insecureLoopback.role]);
  server.setRolePolicyOverride({
    getUserRoles: (name: string) => (name === ANONYMOUS ? anonymousRoles : null),
  });
}

const opcUaRoles: Readonly<Record<Role, string>> = {
  observer: "Observer",
  operator: "Observer;Operator",
  engineer: "Observer;Operator;Engineer",
};

function refuseUnsafe(options: OpcUaOptions): void {
  if (options.insecureLoopback !== null && !loopbackHosts.has(options.host)) {
    throw new Error(
      `opcua.insecureLoopback is for loopback addresses only, and the server listens on ${options.host}`,
    );
  }
  if (options.users.now().some((user) => user.name === ANONYMOUS)) {
    throw new Error(`opcua.users: the name "${ANONYMOUS}" means a session without a user; choose another`);
  }
}

/** The policies that node-opcua itself offers, by endpoint. */
const offered = new WeakMap<object, readonly UserTokenPolicy[]>();

/**
 * Offers certificates of users only if some user has one. Call it when the endpoints exist, and when the
 * users have changed.
 */
export function offerLogOns(server: OPCUAServer, { users }: OpcUaOptions): void {
  const hasCertificates = users.now().some(({ certificate }) => certificate !== undefined);
  for (const endpoint of server.endpoints) {
    for (const description of endpoint.endpointDescriptions()) {
      const all = offered.get(description) ?? description.userIdentityTokens ?? [];
      offered.set(description, all);
      description.userIdentityTokens = all.filter(
        ({ tokenType }) => hasCertificates || tokenType !== UserTokenType.Certificate,
      );
    }
  }
}

/** The user of a session; null: it may not write anything. */
export function accountOf(context: ISessionContext, options: OpcUaOptions): Account | null {
  const token = context.session?.userIdentityToken;
  if (token instanceof UserNameIdentityToken) {
    const user = options.users.now().find((candidate) => candidate.name === token.userName);
    if (user === undefined) return null;
    const { name, role, isDryRun = false, number } = user;
    return { name, role, isDryRun, number: number ?? 0, origin: originOf(context) };
  }
  if (token instanceof AnonymousIdentityToken && options.insecureLoopback !== null) {
    const { role } = options.insecureLoopback;
    return { name: ANONYMOUS, role, number: 0, isDryRun: false, origin: originOf(context) };
  }
  return null;
}

/** A session's client does not change its certificate, so it need not be hashed for every write. */
const thumbprints = new WeakMap<Buffer, string>();

/**
 * The client's address, and its certificate by the thumbprint that OPC UA tools show (SHA-1, hexadecimal).
 */
function originOf({ session }: ISessionContext): NonNullable<Account["origin"]> {
  return originOfChannel(session?.channel);
}

export function originOfChannel(
  channel: { readonly clientCertificate: Buffer | null } | undefined,
): NonNullable<Account["origin"]> {
  const address =
    channel !== undefined && "remoteAddress" in channel && typeof channel.remoteAddress === "string"
      ? { address: channel.remoteAddress }
      : {};
  const certificate = channel?.clientCertificate ?? null;
  return certificate === null || certificate.length === 0
    ? address
    : { ...address, certificate: cached(thumbprints, certificate, () => thumbprintOf(certificate)) };
}

async function isUser(find: () => OpcUaUser | undefined, password: string): Promise<boolean> {
  const secret = secretOf(find());
  const matches = await isPassword(secret, password);
  // A reload may have taken the user, or its password, meanwhile.
  return matches && secret !== null && secretOf(find()) === secret;
}

/** The text with which a user's password is compared; null: it has none. */
function secretOf(user: OpcUaUser | undefined): string | null {
  return user === undefined || user.secret.kind === "none" ? null : user.secret.text;
}

/** The users that must log on again: they are gone, or have another password or certificate. */
export function revokedUsers(before: readonly OpcUaUser[], now: readonly OpcUaUser[]): ReadonlySet<string> {
  const kept = new Map(now.map((user) => [user.name, user]));
  const isRevoked = (user: OpcUaUser) => {
    const after = kept.get(user.name);
    const hasOther = user.certificate !== undefined && user.certificate !== after?.certificate;
    return after === undefined || secretOf(after) !== secretOf(user) || hasOther;
  };
  return new Set(before.filter(isRevoked).map(({ name }) => name));
}

/** The source of this user's requests. */
export function sourceOf({ name }: Pick<Account, "name">): Source {
  return { protocol: "opcua", name };
}

/** A session, for slots. */
export interface Writer {
  readonly sessionId: string;
  readonly account: Account;
}
