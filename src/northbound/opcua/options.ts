import type { Role } from "../../domain/command.ts";
import type { Family, RobotId } from "../../domain/robot.ts";

/** Who may log on, and what that user may do. Secrets come from files, read by the configuration. */
export interface OpcUaUser {
  readonly name: string;
  /**
   * `scrypt:<salt base64>:<hash base64>` (64 bytes of scrypt with Node's default cost), or the password
   * itself as it stood in a secret file.
   */
  readonly secret:
    | { readonly kind: "scrypt"; readonly text: string }
    | { readonly kind: "plain"; readonly text: string }
    /** Nobody logs on as this user with a password. */
    | { readonly kind: "none" };
  /** Thumbprint of the certificate by which it logs on: SHA-1 or SHA-256, hexadecimal in lower case. */
  readonly certificate?: string;
  readonly role: Role;
  /** Names it in a slot's `AcceptedByNo`, for PLCs without strings; null: it has none. */
  readonly number: number | null;
  /** What it sends through slots and methods is checked, and goes no further. */
  readonly isDryRun?: boolean;
}

/** A robot that has its nodes from the start, whether or not it was ever heard of. */
export interface KnownRobot {
  readonly robotId: RobotId;
  /** Names the node instead of the id, so that swapping a robot changes no PLC program. */
  readonly alias: string | null;
  readonly family: Family;
  /** Names the robot to a station's PLC without strings; null: it has none. */
  readonly number: number | null;
  /** Conveyors that have nodes before the first message. */
  readonly conveyorIndexes: readonly number[];
}

/** A station of the configuration, as far as its nodes depend on it. */
export interface StationNode {
  readonly name: string;
  /** Whether starts towards it need its permit, so that it has the tags for that. */
  readonly needsPermit: boolean;
  /** How conveyors turn to load; null: its slot does not take load and unload. */
  readonly load: "CW" | "CCW" | null;
}

/** Everything the OPC UA server is told. All values are already defaulted. */
export interface OpcUaOptions {
  /** Address to listen on. */
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** The name that endpoints advertise. */
  readonly hostname: string;
  /** Nobody has chosen `hostname`: it is what this machine is called now. */
  readonly isHostnameAssumed?: boolean;
  /** Other names and addresses that clients use for this machine. */
  readonly alternateHostnames: readonly string[];
  /** Identifies this server; what a configured certificate says, else `urn:fleetgate:<gateway id>`. */
  readonly applicationUri: string;
  /** Files of a certificate (its issuers after it) and its key, PEM; null: the gateway makes its own. */
  readonly certificate: { readonly certificateFile: string; readonly keyFile: string } | null;
  readonly authorities: OpcUaAuthorities;
  /** Keeps the server's key and the trusted and rejected client certificates, in `<dataDir>/opcua`. */
  readonly dataDir: string;
  readonly users: readonly OpcUaUser[];
  /**
   * Anonymous users and unencrypted sessions with this role, for a demo. Refused unless `host` is a loopback
   * address; null in every other case.
   */
  readonly insecureLoopback: { readonly role: Role } | null;
  readonly robots: readonly KnownRobot[];
  /** Stations of the configuration: each has a slot, and tags. */
  readonly stations: readonly StationNode[];
  /** Destinations by the number that PLCs without strings know them by. */
  readonly destinations: ReadonlyMap<number, string>;
  /** How many mission slots each robot has: each is for one program. */
  readonly missionSlots: number;
  readonly limits: OpcUaLimits;
}

/** Certificates and lists of the plant's authorities, each as PEM. */
export interface OpcUaAuthorities {
  /** Authorities whose clients are let in without an approval of their own. */
  readonly trusted: readonly string[];
  /** Issuers that complete the chains of clients, and let nobody in. */
  readonly issuers: readonly string[];
  readonly revocationLists: readonly string[];
}

/** What clients may use up. */
export interface OpcUaLimits {
  readonly maxSessions: number;
  /** Of one user. */
  readonly maxSessionsPerUser: number;
  readonly maxConnections: number;
  readonly maxSubscriptions: number;
  readonly maxMonitoredItems: number;
  /** How many robots have nodes at most; more are counted and logged, not shown. */
  readonly maxRobots: number;
}

/** Room for a plant; node-opcua's own defaults (10 sessions, 100 subscriptions) are for a bench. */
export const defaultOpcUaLimits: OpcUaLimits = {
  maxSessions: 100,
  maxSessionsPerUser: 50,
  // More than sessions, those without a user included: a session must not lack a connection.
  maxConnections: 200,
  maxSubscriptions: 1_000,
  maxMonitoredItems: 500_000,
  maxRobots: 10_000,
};
