import ipaddr from "ipaddr.js";
import type { Commander, CommandRecords, Envelope, RefusalAudit } from "../../../contracts/commander.ts";
import { refusal } from "../../../domain/outcome.ts";
import type { RobotId } from "../../../domain/robot.ts";

export interface LimitedMovesParts {
  readonly commander: Commander;
  readonly records: Pick<CommandRecords, "knows">;
  readonly audit: RefusalAudit;
  /** Addresses and networks from which robots may be moved at present; null: all. */
  readonly movesFrom: () => readonly string[] | null;
}

/** A commander that moves robots for some addresses only. Stops and changes are accepted from everywhere. */
export function limitMoves({ commander, records, audit, movesFrom }: LimitedMovesParts): Commander {
  /** The robot that a command would move; undefined: it moves none. */
  function movedRobot({ operation, request }: Envelope): RobotId | null | undefined {
    if (!("json" in request)) return undefined;
    const read = commander.read(operation, request.json);
    return "effect" in read && read.effect === "moves" ? read.robotId : undefined;
  }

  const refusedFor = (operation: string, address: string) => {
    const why = refusedMoves(address, movesFrom());
    return why === null ? null : refusal("NOT_ALLOWED", `${operation} moves a robot, and ${why}`);
  };

  return {
    ...commander,
    async check(envelope) {
      const outcome = await commander.check(envelope);
      if (outcome.outcome !== "checked" || movedRobot(envelope) === undefined) return outcome;
      return refusedFor(envelope.operation, envelope.origin?.address ?? "") ?? outcome;
    },
    submit(envelope, signal, onStage) {
      const { source, requestId, operation, origin } = envelope;
      // A repetition sends nothing, and must get its outcome.
      const isKnown = requestId !== null && records.knows(source, requestId);
      const refused = isKnown ? null : refusedFor(operation, origin?.address ?? "");
      const robotId = refused === null ? undefined : movedRobot(envelope);
      if (refused === null || robotId === undefined) return commander.submit(envelope, signal, onStage);
      audit.refused(
        { source, requestId, operation, robotId, ...(origin === undefined ? {} : { origin }) },
        refused,
      );
      return Promise.resolve(refused);
    },
  };
}

/** Why no robot may be moved from an address; null: it may. */
export function refusedMoves(address: string, from: readonly string[] | null): string | null {
  if (from === null || isWithin(address, from)) return null;
  return `web.commands.from does not name the address ${address}`;
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
