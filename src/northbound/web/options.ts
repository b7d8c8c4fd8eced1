import type { Role } from "../../domain/command.ts";
import type { RobotId } from "../../domain/robot.ts";
import type { Live } from "../../platform/live.ts";
import type { ListenerPair } from "../../platform/tls-files.ts";

/** The name of the source while there are neither users nor tokens. */
export const OPEN_USER = "open";

/** A user or a program that may log in. */
interface WebAccount {
  readonly name: string;
  readonly role: Role;
  /** The robots that it may command; null: all. */
  readonly robots: readonly RobotId[] | null;
}

export interface WebUser extends WebAccount {
  /** The password itself, or its hash (`platform/password.ts`). */
  readonly password: string;
}

export interface WebToken extends WebAccount {
  /** SHA-256 of the token, hexadecimal. */
  readonly digest: string;
}

/** Who may use the web listener. */
export interface WebAccess {
  /** Without users and tokens, anybody who reaches the listener may use it. */
  readonly users: readonly WebUser[];
  readonly tokens: readonly WebToken[];
  /** Addresses and networks from which robots may be moved; null: all. */
  readonly movesFrom: readonly string[] | null;
}

/** The shapes of points on the floor. Marks of robots have other shapes. */
export const pointShapes = ["dot", "square", "ring", "cross", "bar", "station", "charger", "home"] as const;

/** A point of a drawing: a pixel, from the upper left corner, and its position on the map. */
export interface Anchor {
  readonly pixel: { readonly x: number; readonly y: number };
  readonly map: { readonly x: number; readonly y: number };
}

/** What the console shows on the floor besides what the service tells. */
export interface FloorOptions {
  readonly pointTypes: ReadonlyArray<{
    readonly type: number;
    readonly name: string;
    readonly shape: (typeof pointShapes)[number];
  }>;
  readonly drawings: ReadonlyArray<{
    readonly mapId: number;
    /** A PNG. */
    readonly bytes: Uint8Array;
    readonly width: number;
    readonly height: number;
    readonly first: Anchor;
    readonly second: Anchor;
  }>;
}

/** Where health checks, metrics and the console are served, by TCP. */
export interface WebOptions {
  readonly listen: {
    /** Loopback unless the operator configures another address. */
    readonly host: string;
    /** 0: any free port. */
    readonly port: number;
  };
  /** The names under which it answers, besides localhost and the address of the connection. */
  readonly hostnames: readonly string[];
  /** Null: HTTP without TLS. */
  readonly tls: Live<ListenerPair | null>;
  readonly access: Live<WebAccess>;
  readonly floor: Live<FloorOptions>;
}

/** The socket for programs of this machine, with all values set. */
export interface ControlOptions {
  /** The absolute path of the Unix domain socket. A process that may open it may send commands. */
  readonly socketPath: string;
}
