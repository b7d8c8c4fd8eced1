import { DiskCertificateKeyPairProvider, type OPCUAServer } from "node-opcua";
import type { ReloadRefusal } from "../../contracts/reload.ts";
import type { RobotId } from "../../domain/robot.ts";
import type { SharedTags } from "./address-space.ts";
import type { FleetSpace } from "./fleet-space.ts";
import type { RejectedClients } from "./node-opcua/rejected-clients.ts";
import type { SessionBounds } from "./node-opcua/session-bounds.ts";
import type { OpcUaOptions } from "./options.ts";
import { type RobotRefusal, robotRefusals } from "./robot-changes.ts";
import { offerLogOns, revokedUsers } from "./security.ts";

/** Applies what a reload changes of the options of a running server. */
export interface OptionsChanges {
  /**
   * `options.users` has changed: closes the sessions of users that are gone, or that log on in another way.
   */
  usersChanged(before: OpcUaOptions["users"]): void;
  /** `options.certificate` may name other files, or they may have other content: for new channels. */
  certificateChanged(): void;
  /** `options.authorities` has changed: ends the clients that only the earlier CAs admitted. */
  authoritiesChanged(): void;
  /** `options.stations` has changed. */
  stationsChanged(): void;
  /** Why the stations cannot become `next` now, by the key of the configuration. */
  refusedStations(next: OpcUaOptions["stations"]): readonly ReloadRefusal[];
  /** `options.robots` has more robots than before. */
  robotsChanged(): void;
  /**
   * Why the robots cannot become `next` now.
   *
   * @param isKnown whether something was received of a robot
   */
  refusedRobots(
    next: OpcUaOptions["robots"],
    isKnown: (robotId: RobotId) => boolean,
  ): readonly RobotRefusal[];
}

/** The parts of a server while it runs; null before and after. */
interface RunningParts {
  readonly server: OPCUAServer | null;
  readonly bounds: SessionBounds | null;
  readonly rejected: RejectedClients | null;
  readonly gateway: SharedTags | null;
}

export function followOptions(
  options: OpcUaOptions,
  space: FleetSpace,
  now: () => RunningParts,
): OptionsChanges {
  return {
    usersChanged(before) {
      const { server, bounds } = now();
      if (server !== null) offerLogOns(server, options);
      bounds?.end(revokedUsers(before, options.users));
    },
    certificateChanged() {
      const { server } = now();
      if (server !== null && options.certificate !== null) showCertificateOf(server, options.certificate);
    },
    authoritiesChanged: () => now().rejected?.trust(options.authorities),
    stationsChanged: () => now().gateway?.followStations(),
    refusedStations: (next) => now().gateway?.refusedStations(next) ?? [],
    robotsChanged: () => now().gateway?.followRobots(),
    refusedRobots: (next, isKnown) => robotRefusals(next, space, isKnown),
  };
}

/** The endpoints keep the certificate that they have read. */
function showCertificateOf(
  server: OPCUAServer,
  { certificateFile, keyFile }: NonNullable<OpcUaOptions["certificate"]>,
): void {
  const provider = () => new DiskCertificateKeyPairProvider(certificateFile, keyFile);
  server.setProvider(provider());
  for (const endpoint of server.endpoints) endpoint.setCertificateProvider(provider());
}

/** Open channels keep the certificate with which they began. */
export function showNewCertificate(server: OPCUAServer): void {
  server.invalidateCachedCertificates();
  for (const endpoint of server.endpoints) endpoint.invalidateCertificates();
}
