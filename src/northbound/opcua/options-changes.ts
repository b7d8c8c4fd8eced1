import { DiskCertificateKeyPairProvider, type OPCUAServer } from "node-opcua";
import type { ReloadRefusal } from "../../contracts/reload.ts";
import type { RobotId } from "../../domain/robot.ts";
import type { SharedTags } from "./address-space.ts";
import type { FleetSpace } from "./fleet-space.ts";
import type { RejectedClients } from "./node-opcua/rejected-clients.ts";
import type { SessionBounds } from "./node-opcua/session-bounds.ts";
import type { KnownRobot, OpcUaCertificate, OpcUaOptions, StationNode } from "./options.ts";
import { type RobotRefusal, robotRefusals } from "./robot-changes.ts";
import { offerLogOns, revokedUsers } from "./security.ts";

/** What a running server refuses of another configuration. */
export interface RefusedChanges {
  /** Why the stations cannot become `next` now, by the key of the configuration. */
  refusedStations(next: readonly StationNode[]): readonly ReloadRefusal[];
  /**
   * Why the robots cannot become `next` now.
   *
   * @param isKnown whether something was received of a robot
   */
  refusedRobots(next: readonly KnownRobot[], isKnown: (robotId: RobotId) => boolean): readonly RobotRefusal[];
}

/** Applies what a reload changes of the options. `now`: what the server has while it runs; else null. */
export function followOptions(
  options: OpcUaOptions,
  space: FleetSpace,
  now: () => {
    readonly server: OPCUAServer | null;
    readonly bounds: SessionBounds | null;
    readonly rejected: RejectedClients | null;
    readonly gateway: SharedTags | null;
  },
): RefusedChanges {
  options.users.onChange((was, is) => {
    const { server, bounds } = now();
    if (server !== null) offerLogOns(server, options);
    bounds?.end(revokedUsers(was, is));
  });
  // For new channels.
  options.certificate.onChange((_was, is) => {
    const { server } = now();
    if (server !== null && is !== null) showCertificateOf(server, is);
  });
  options.trustList.onChange((_was, is) => now().rejected?.trust(is));
  options.stations.onChange(() => now().gateway?.followStations());
  options.robots.onChange(() => now().gateway?.followRobots());
  return {
    refusedStations: (next) => now().gateway?.refusedStations(next) ?? [],
    refusedRobots: (next, isKnown) => robotRefusals(next, space, isKnown),
  };
}

/** The endpoints keep the certificate that they have read. */
function showCertificateOf(server: OPCUAServer, { certificateFile, keyFile }: OpcUaCertificate): void {
  const provider = () => new DiskCertificateKeyPairProvider(certificateFile, keyFile);
  server.setProvider(provider());
  for (const endpoint of server.endpoints) endpoint.setCertificateProvider(provider());
}

/** Open channels keep the certificate with which they began. */
export function showNewCertificate(server: OPCUAServer): void {
  server.invalidateCachedCertificates();
  for (const endpoint of server.endpoints) endpoint.invalidateCertificates();
}
