import type { Role } from "../../domain/command.ts";
import type { Family, RobotId } from "../../domain/robot.ts";
import type { Live } from "../../platform/live.ts";

/** A user that may log on, and its rights. Secrets come from files, read by the configuration. */
export interface OpcUaUser {
  readonly name: string;
  /**
   * `scrypt:<salt base64>:<hash base64>` (64 bytes of scrypt with Node's default cost), or the password
   * itself, as in a secret file.
   */
  readonly secret:
    | { readonly kind: "scrypt"; readonly text: string }
    | { readonly kind: "plain"; readonly text: string }
    /** Nobody logs on as this user with a password. */
    | { readonly kind: "none" };
  /** The thumbprint of its certificate: SHA-1 or SHA-256, hexadecimal in lower case. */
  readonly certificate?: string;
  readonly role: Role;
  /** Its number in a slot's `AcceptedByNo`, for PLCs without strings; null: none. */
  readonly number: number | null;
  /** Its commands through slots and methods are checked, and not sent. */
  readonly isDryRun?: boolean;
}

/** A robot that has its nodes from the start, seen or not. */
export interface KnownRobot {
  readonly robotId: RobotId;
  /** The name of its node in place of the id, so that swapping a robot changes no PLC program. */
  readonly alias: string | null;
  readonly family: Family;
  /** The robot's number for a station's PLC without strings; null: none. */
  readonly number: number | null;
  /** Conveyors that have nodes before the first message. */
  readonly conveyorIndexes: readonly number[];
}

/** A station of the configuration, as far as its nodes depend on it. */
export interface StationNode {
  readonly name: string;
  /** Whether starts to it need its permit, so that it has the tags for that. */
  readonly needsPermit: boolean;
  /** The direction in which conveyors load; null: its slot does not have load and unload. */
  readonly load: "CW" | "CCW" | null;
}

/** The configuration of the OPC UA server, with all defaults. */
export interface OpcUaOptions {
  /** Address to listen on. */
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** The name that endpoints advertise. */
  readonly hostname: string;
  /** Nobody has chosen `hostname`: it is the machine's present name. */
  readonly isHostnameAssumed?: boolean;
  /** Other names and addresses that clients use for this machine. */
  readonly alternateHostnames: readonly string[];
  /** Identifies this server: the URI of a configured certificate, otherwise `urn:fleetgate:<gateway id>`. */
  readonly applicationUri: string;
  /** Files of a certificate (its issuers after it) and its key, PEM; null: the gateway makes its own. */
  readonly certificate: Live<OpcUaCertificate | null>;
  readonly trustList: Live<OpcUaTrustList>;
  /** The server's key, and the trusted and rejected client certificates, are in `<dataDir>/opcua`. */
  readonly dataDir: string;
  readonly users: Live<readonly OpcUaUser[]>;
  /**
   * Anonymous users and unencrypted sessions with this role, for a demo. Refused unless `host` is a loopback
   * address; null in every other case.
   */
  readonly insecureLoopback: { readonly role: Role } | null;
  /** Clients that listen for the server: `opc.tcp://host:port`, each once. */
  readonly reverseConnect: Live<readonly string[]>;
  readonly robots: Live<readonly KnownRobot[]>;
  /** Stations of the configuration: each has a slot, and tags. */
  readonly stations: Live<readonly StationNode[]>;
  /** Destinations by the numbers for PLCs without strings. */
  readonly destinations: Live<ReadonlyMap<number, string>>;
  /** How many mission slots each robot has, one for each program. */
  readonly missionSlots: number;
  /** The gateway is a member of a cluster, and its nodes show that. */
  readonly isClustered?: boolean;
  readonly limits: OpcUaLimits;
}

/** The files of the server's certificate and its key, and what the first of them has: another text counts. */
export interface OpcUaCertificate {
  readonly certificateFile: string;
  readonly keyFile: string;
  readonly text: string;
}

/** Certificates and revocation lists of the plant's CAs, each as PEM. */
export interface OpcUaTrustList {
  /** CAs whose clients are admitted without an approval of their own. */
  readonly trusted: readonly string[];
  /** Issuers that complete the chains of clients, and admit nobody. */
  readonly issuers: readonly string[];
  readonly revocationLists: readonly string[];
}

/** Limits for clients. */
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

/** Room for a plant; node-opcua's own defaults (10 sessions, 100 subscriptions) are for a test bench. */
export const defaultOpcUaLimits: OpcUaLimits = {
  maxSessions: 100,
  maxSessionsPerUser: 50,
  // More than sessions, including those without a user: no session may lack a connection.
  maxConnections: 200,
  maxSubscriptions: 1_000,
  maxMonitoredItems: 500_000,
  maxRobots: 10_000,
};
