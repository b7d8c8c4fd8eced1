import type { FastifyRequest } from "fastify";
import type { Role } from "../../domain/command.ts";
import type { RobotId } from "../../domain/robot.ts";

/** The sender of a request over the web listener. */
export interface Viewer {
  /** The user, or the name of a token. */
  readonly name: string;
  readonly role: Role;
  /** The robots that it may command; null: all. Everybody may read. */
  readonly robots: readonly RobotId[] | null;
}

/** Null: the request has no valid credential. */
export type ViewerOf = (request: FastifyRequest) => Viewer | null;
