import ipaddr from "ipaddr.js";
import type { Commander, CommandRecords, Envelope, RefusalAudit } from "../../../contracts/commander.ts";
import { refusal } from "../../../domain/outcome.ts";
import type { RobotId } from "../../../domain/robot.ts";

export interface LimitedMovesParts {
  readonly commander: Commander;
  readonly records: Pick<CommandRecords, "knows">;
  readonly audit: RefusalAudit;
  /** Addresses and networks from which robots may be moved, now; null: all. */
  readonly movesFrom: () => readonly string[] | null;
}

/** A commander that moves robots for some addresses only. Stops and changes are taken from everywhere. */
export function limitMoves({ commander, records, audit, movesFrom }: LimitedMovesParts): Commander {
  /** The robot that a command would move; undefined: it moves none. */
  function movedRobot({ operation, request, calledOn = null }: Envelope): RobotId | null | undefined {
    if (!("json" in request)) return undefined;
    const read = commander.read(operation, request.json);
    return "effect" in read && read.effect === "moves" ? (read.robotId ?? calledOn) : undefined;
  }

  return {
    ...commander,
    submit(envelope, signal, onStage) {
      const { source, requestId, operation, origin } = envelope;
      const from = movesFrom();
      const address = origin?.address ?? "";
      // A repetition sends nothing, and its outcome must be told.
      const isKnown = requestId !== null && records.knows(source, requestId);
      const robotId = from === null || isKnown || isWithin(address, from) ? undefined : movedRobot(envelope);
      if (robotId === undefined) return commander.submit(envelope, signal, onStage);
      const why = `${operation} moves a robot, and web.commands.from does not name the address ${address}`;
      const refused = refusal("NOT_ALLOWED", why);
      audit.refused(
        { source, requestId, operation, robotId, ...(origin === undefined ? {} : { origin }) },
        refused,
      );
      return Promise.resolve(refused);
    },
  };
}

/** An IPv4 address that arrives at an IPv6 listener is the same address. */
function isWithin(address: string, networks: readonly string[]): boolean {
  if (!ipaddr.isValid(address)) return false;
  const given = ipaddr.process(address);
  return networks.some((text) => {
    const [network, bits] = ipaddr.isValidCIDR(text)
      ? ipaddr.parseCIDR(text)
      : ([ipaddr.process(text), null] as const);
    if (network.kind() !== given.kind()) return false;
    return bits === null ? network.toString() === given.toString() : given.match(network, bits);
  });
}
