// First, so that node-opcua finds its loggers set when it is imported.

import { join } from "node:path";
import { type AddressSpace, nodesets, OPCUAServer, StatusCodes } from "node-opcua";
import type { ClientCertificates as ApprovedClients } from "../../contracts/client-certificates.ts";
import type { Batch, Sink } from "../../contracts/link.ts";
import type { Peer } from "../../contracts/peers.ts";
import type { TagSource } from "../../contracts/tags.ts";
import { beginListening, type StartRetry, startOnce } from "../../platform/backoff.ts";
import { type Clock, every } from "../../platform/clock.ts";
import { aborted, type Component, type Health } from "../../platform/component.ts";
import { describeError, messageOf } from "../../platform/error-text.ts";
import { closedPort } from "../../platform/liveness.ts";
import type { Log } from "../../platform/log.ts";
import { urlHost } from "../../platform/url-host.ts";
import { type OpcUaCommands, type OpcUaViews, openAddressSpace, type SharedTags } from "./address-space.ts";
import { type AuditEvents, openAuditEvents } from "./audit/audit-events.ts";
import { auditLogOns, auditSessions } from "./audit/audited-requests.ts";
import { contentOf } from "./certificate-content.ts";
import { createClientList } from "./certificate-store/client-list.ts";
import type { ClientCertificates } from "./client-certificates.ts";
import { FLEET_NAMESPACE_INDEX, fleetNodeset } from "./fleet-nodeset.ts";
import { createFleetSpace, type FleetSpace } from "./fleet-space.ts";
import { germanOf } from "./localized.ts";
import { refuseWithErrorMessages } from "./node-opcua/client-refusals.ts";
import { answerWithAskedAddress } from "./node-opcua/endpoint-address.ts";
import { startServer } from "./node-opcua/endpoint-start.ts";
import { deliverEvents } from "./node-opcua/event-delivery.ts";
import { checkEventSubscriptions } from "./node-opcua/event-subscriptions.ts";
import { type Fence, fence } from "./node-opcua/fence.ts";
import { answerHistoryReads } from "./node-opcua/history-reads.ts";
import { correctIndexRanges } from "./node-opcua/index-ranges.ts";
import { openItemLedger } from "./node-opcua/item-ledger.ts";
import { shareItems } from "./node-opcua/item-shares.ts";
import {
  allowManyWatchers,
  boundTriggers,
  forgetClosedSubscriptions,
  forgetHungUpClients,
} from "./node-opcua/leaks.ts";
import { forwardLibraryLog } from "./node-opcua/library-log.ts";
import { listSessions, nameLargeAnswers, serverLoad } from "./node-opcua/load.ts";
import { answerInLocales } from "./node-opcua/locales.ts";
import { checkLogOns } from "./node-opcua/log-ons.ts";
import { publishInTurns } from "./node-opcua/publish-turns.ts";
import { showRedundantSet } from "./node-opcua/redundant-set.ts";
import { endRejectedClients, type RejectedClients } from "./node-opcua/rejected-clients.ts";
import { boundSessions, type SessionBounds } from "./node-opcua/session-bounds.ts";
import { ageByMonotonicClock, closeKeylessChannels } from "./node-opcua/steady-times.ts";
import { reportUriRefusals, type UriRefusals } from "./node-opcua/uri-refusals.ts";
import type { OpcUaStore } from "./opcua-store.ts";
import type { OpcUaOptions } from "./options.ts";
import { followOptions, type RefusedChanges, showNewCertificate } from "./options-changes.ts";
import { keepOwnCertificate, watchOwnCertificate } from "./own-certificate.ts";
import { preparePkiFolder } from "./pki-folder.ts";
import { connectInReverse, type ReverseConnections } from "./reverse-connect.ts";
import { giveAnonymousRole, offerLogOns, type SecurityOptions, securityOptions } from "./security.ts";
import { describeServer, showSampleRate } from "./server-identity.ts";
import { createTagRegistry } from "./tag-registry.ts";

const RENEWAL_CHECK_MS = 86_400_000;

/** The dependencies of the server. */
export interface OpcUaParts {
  readonly commands: OpcUaCommands;
  readonly views: OpcUaViews;
  /** Opens the stores that survive a restart. Called once, when the server runs. */
  readonly openMemory: () => OpcUaStore;
  /** Times the work for a client's request; absent: it is not timed. */
  readonly timeRequest?: (task: () => void) => void;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  /** Absent: a start that fails once has failed. */
  readonly retry?: StartRetry;
}

/** The OPC UA server: a component that updates its tags at once from its sink. */
export interface OpcUaServer extends Component, Sink, RefusedChanges {
  /** `opc.tcp://host:port` while it listens. */
  url(): string | null;
  readonly tags: TagSource;
  readonly clientCertificates: ApprovedClients;
  /** Its sessions, and the connections that it opens itself. */
  peers(): readonly Peer[];
}

/**
 * Makes the server; nothing happens before `run`. Changes of robots before that are kept, the newest of each
 * value; stations, holds and alarms are read when their nodes are made. `run` rejects with PortTaken if
 * another program has the port.
 */
export function createOpcUaServer(options: OpcUaOptions, parts: OpcUaParts): OpcUaServer {
  const { commands, views, openMemory, clock, random, log, retry = startOnce } = parts;
  const space = createFleetSpace(options.limits.maxRobots, clock, log);
  const registry = createTagRegistry(() => space.counts().missing);
  let state: Health["state"] = "starting";
  let server: OPCUAServer | null = null;
  let url: string | null = null;
  let guarded: Fence | null = null;
  let clients: ClientCertificates | null = null;
  let uris: UriRefusals | null = null;
  let rejected: RejectedClients | null = null;
  let bounds: SessionBounds | null = null;
  let pkiFolder: string | null = null;
  let gateway: SharedTags | null = null;
  let reverse: ReverseConnections | null = null;

  /** A temporary problem ends with its time. */
  function condition(): Pick<Health, "state" | "detail"> {
    const problem = rejected?.problem() ?? bounds?.problem() ?? null;
    return {
      state: state === "up" && problem !== null ? "degraded" : state,
      ...(url === null ? {} : { detail: problem === null ? url : `${url}, ${problem}` }),
    };
  }

  return {
    name: "opcua",
    url: () => url,
    tags: registry,
    peers: () => [...(server === null ? [] : listSessions(server)), ...(reverse?.peers() ?? [])],
    clientCertificates: createClientList(() => pkiFolder, clock),
    ...followOptions(options, space, () => ({ server, bounds, rejected, gateway })),
    write(batch) {
      gateway?.showLink(clock.nowMs());
      show(batch, space, gateway);
    },
    health: () => ({
      ...condition(),
      figures: {
        ...loadOf(server, space),
        ...(guarded?.figures() ?? { connectionsClosed: 0, requestsUndecodable: 0 }),
        clientsRefused: bounds?.refusedCount ?? 0,
        certificatesRefused: (clients?.refusedCount ?? 0) + (uris?.count ?? 0) + (guarded?.pinsRefused ?? 0),
      },
    }),
    hang: () => (url === null ? null : closedPort(guarded)),
    async run(signal, ready) {
      forwardLibraryLog(log, clock, (name) => Object.hasOwn(StatusCodes, name));
      if (options.insecureLoopback !== null) warnOfInsecurity(options, log);
      const memory = openMemory();
      try {
        const folder = join(options.dataDir, "opcua");
        await retry.begin(() => preparePkiFolder(folder), noFiles, signal, ready);
        if (signal.aborted) return;
        pkiFolder = folder;
        const opened = await openServer(options, parts, folder, signal, ready);
        if (opened === null) return;
        ({ server, clients, uris, rejected, bounds } = opened);
        memory.shareClients?.(join(folder, "server"), signal);
        // A PLC that comes back asks for its nodes at once, and may never ask again for a missing one.
        const { auditEvents } = opened;
        const nodeParts = { commands, views, memory, registry, auditEvents, clock, random, log };
        gateway = openAddressSpace(server, space, options, nodeParts, signal);
        answerHistoryReads(server, views.past, registry.robotAt, signal);
        // Last: it contains the errors of the handlers that were inserted before node-opcua's.
        guarded = fence(server, clock, log, aroundRequests(parts));
        await startServer(server, (listen) => beginListening(retry, "opcua", options, listen, signal, ready));
        if (!signal.aborted) {
          url = `opc.tcp://${urlHost(options.hostname)}:${boundPort(server)}`;
          state = "up";
          log.info({ url }, "OPC UA server listens");
          reverse = connectInReverse(server, options.reverseConnect, { clock, random, log }, signal);
          ready();
        }
        await aborted(signal);
      } finally {
        state = "down";
        url = null;
        space.close();
        registry.clear();
        gateway = null;
        reverse = null;
        await server?.shutdown(0);
        server = null;
        await memory.close();
        pkiFolder = null;
      }
    },
  };
}

function noFiles(error: unknown): string {
  return `opcua cannot write its key and certificate: ${messageOf(error)}`;
}

/** Tags of the cluster are set when it changes, and a process that was held up reads requests before that. */
function aroundRequests({ timeRequest = (task) => task(), views: { cluster } }: OpcUaParts) {
  if (cluster == null) return timeRequest;
  return (task: () => void) => {
    cluster.look();
    timeRequest(task);
  };
}

function show({ changes, events }: Batch, space: FleetSpace, gateway: SharedTags | null): void {
  for (const event of events) if (event.kind === "alarm") gateway?.alarmChanged(event.alarm);
  for (const change of changes) {
    if (change.kind === "hold_all") gateway?.showHold(change.hold);
    else if (change.kind === "station") gateway?.showStation(change.station, change.shown);
    else if (change.kind === "station_alarms") gateway?.showStationAlarms(change.station, change.alarms);
    else if (change.kind === "alarms") gateway?.showAlarms(change.alarms);
    else if (change.kind !== "map" && change.kind !== "station_removed") space.apply(change);
  }
  for (const event of events) {
    if (event.kind === "lease") space.leaseChanged(event.robotId);
    else gateway?.raise(event);
  }
}

function loadOf(server: OPCUAServer | null, space: FleetSpace) {
  const { built, missing, refused } = space.counts();
  return {
    sessions: server?.currentSessionCount ?? 0,
    subscriptions: server?.currentSubscriptionCount ?? 0,
    ...(server === null ? { monitoredItems: 0, nodes: 0 } : serverLoad(server)),
    robots: built,
    robotsWaiting: missing,
    robotsRefused: refused,
  };
}

function warnOfInsecurity(options: OpcUaOptions, log: Log): void {
  log.warn(
    { host: options.host, role: options.insecureLoopback?.role },
    "OPC UA WITHOUT SECURITY: anonymous users and unencrypted sessions are let in from this machine; for a demo only",
  );
}

interface Opened {
  readonly server: OPCUAServer;
  readonly clients: ClientCertificates;
  readonly uris: UriRefusals;
  readonly rejected: RejectedClients;
  readonly bounds: SessionBounds;
  readonly auditEvents: AuditEvents;
}

/** Resolves with whether there is another certificate. */
type Renew = () => Promise<boolean>;

function renewalOf(
  manager: SecurityOptions["serverCertificateManager"],
  options: OpcUaOptions,
  { clock, log, views: { facts } }: OpcUaParts,
): Renew {
  return () => {
    const times = { nowMs: clock.nowMs(), builtAtMs: facts.builtAt.getTime() };
    return keepOwnCertificate(manager, contentOf(options), times, log);
  };
}

/** Waits until there is a certificate: the clock may be wrong, or the disk full. */
async function makeFirst(
  renew: Renew,
  { retry = startOnce }: OpcUaParts,
  signal: AbortSignal,
  ready: () => void,
): Promise<void> {
  const problemOf = (error: unknown) => `opcua has no certificate: ${messageOf(error)}`;
  await retry.begin(renew, problemOf, signal, ready);
}

/** Resolves with null if the signal was aborted meanwhile. */
async function openServer(
  options: OpcUaOptions,
  parts: OpcUaParts,
  pkiFolder: string,
  signal: AbortSignal,
  ready: () => void,
): Promise<Opened | null> {
  const { clock, log, commands, views } = parts;
  const { clientCertificates, ...security } = await securityOptions(options, pkiFolder, clock, log);
  const { serverCertificateManager: manager } = security;
  // Null: the configuration names the certificate.
  const renew = options.certificate.now() === null ? renewalOf(manager, options, parts) : null;
  if (renew !== null) await makeFirst(renew, parts, signal, ready);
  if (signal.aborted) return null;
  const server = new OPCUAServer({
    ...security,
    nodesets: [nodesets.standard, fleetNodeset],
    ...describeServer(options, views.facts),
    unresolvedPermissionPolicy: "allow",
  });
  try {
    await server.initialize();
    offerLogOns(server, options);
    giveAnonymousRole(server, options);
    answerWithAskedAddress(server);
    if (views.cluster != null) showRedundantSet(server, views.cluster);
    answerInLocales(server, FLEET_NAMESPACE_INDEX, germanOf);
    refuseWithErrorMessages(server);
    nameLargeAnswers(server);
    forgetClosedSubscriptions(server);
    forgetHungUpClients(server);
    ageByMonotonicClock();
    closeKeylessChannels(server);
    correctIndexRanges(server);
    allowManyWatchers();
    boundTriggers();
    deliverEvents(clock);
    openItemLedger(addressSpaceOf(server), options);
    checkEventSubscriptions();
    shareItems();
    publishInTurns();
    showSampleRate(server);
    const auditEvents = openAudit(server, options, parts);
    auditSessions(server, auditEvents);
    // Before the bounds of sessions, which need the user.
    checkLogOns(server, options, clock, log, auditLogOns(auditEvents, commands.audit));
    const bounds = boundSessions(server, options, clock, log);
    const uris = reportUriRefusals(server, clock, log);
    const rejected = endRejectedClients(server, clientCertificates, clock, log, signal);
    if (renew !== null) {
      const show = () => showNewCertificate(server);
      watchOwnCertificate(manager, clock, signal, log, show);
      every(clock, RENEWAL_CHECK_MS, signal, () => {
        renew().then(
          (isNew) => isNew && showNewCertificate(server),
          (error: unknown) =>
            log.error({ cause: describeError(error) }, "OPC UA's certificate cannot be renewed"),
        );
      });
    }
    return { server, clients: clientCertificates, uris, rejected, bounds, auditEvents };
  } catch (error) {
    await server.shutdown(0);
    throw error;
  }
}

function openAudit(server: OPCUAServer, options: OpcUaOptions, { views, clock }: OpcUaParts): AuditEvents {
  return openAuditEvents(addressSpaceOf(server), options, views.facts.sessionId, clock);
}

function addressSpaceOf({ engine }: OPCUAServer): AddressSpace {
  if (engine.addressSpace === null) throw new Error("the OPC UA server has no address space");
  return engine.addressSpace;
}

function boundPort(server: OPCUAServer): number {
  const port = server.endpoints[0]?.port;
  if (port === undefined) throw new Error("the OPC UA server has no endpoint");
  return port;
}
