import type { CallEnding, CallOrder, FleetPort } from "../../../src/contracts/fleet-port.ts";
import { openTestRequest } from "../../support/test-requests.ts";
import type { Truth } from "./record.ts";
import type { Box, Random, Simulation } from "./simulation.ts";

/** A call, as the service sees it. */
export interface Sending {
  readonly operation: string;
  /** The id of its command. */
  readonly id: string;
  /** Null: the service picks one. */
  readonly robotId: string | null;
}

export interface ServiceParts {
  readonly sim: Simulation;
  readonly random: Random;
  readonly truth: Truth;
  readonly box: Box;
  readonly process: string;
  /** The process stops between its look at the clock and its system call. */
  readonly stopsInTurn: boolean;
  /** How often a call does not do as it should. */
  readonly faulty: () => number;
  /** True time until which the box is cut off from the service. */
  readonly cutUntilMs: () => number;
  readonly isHeldHere: (robotId: string | null) => boolean;
  /** A start has made its mission. */
  readonly made: (sending: Sending) => void;
}

const lost: CallEnding = { kind: "unknown", code: "UNAVAILABLE", message: "" };
const notSent: CallEnding = { kind: "not_sent", message: "" };
const refused: CallEnding = { kind: "refused", code: "FAILED_PRECONDITION", message: "" };

/**
 * A process's connection to the fleet service. Once a call has left, its bytes may arrive until its deadline,
 * on the clock of its box, whatever becomes of the process and the connection.
 */
export function createServiceLink(parts: ServiceParts): FleetPort {
  const { sim, random, truth, box, process, stopsInTurn, faulty, cutUntilMs, isHeldHere, made } = parts;
  const isCut = () => sim.nowMs < cutUntilMs();
  const hop = () => random.between(1, 15);
  /** When the last start of each robot arrives on a connection that holds: a stop uses the same one. */
  const arrivesAtMs = new Map<string | null, number>();

  function leave(
    sending: Sending,
    order: CallOrder,
    deadlineMs: number,
    resolve: (ending: CallEnding) => void,
  ): void {
    const answer = (ending: CallEnding, delayMs: number) =>
      sim.after(delayMs, () => box.enter(() => resolve(ending)));
    if (isCut() || !order.mayLeave()) {
      resolve(notSent);
      return;
    }
    order.leaves?.();
    const ok: CallEnding = { kind: "ok", responseJson: "{}", missionId: `m-${sending.id}` };
    if (!order.isStop) truth.left(sending, isHeldHere(sending.robotId));
    const latestMs = box.trueMs(deadlineMs);
    const isFaulty = random.chance(faulty());
    const way = random.next();
    const heldUpMs = stopsInTurn && random.chance(0.05) ? random.between(0, 9_000) : 0;
    const { robotId } = sending;
    const ownMs = heldUpMs + (isFaulty ? random.between(0, latestMs) : hop());
    const behindMs = order.isStop ? (arrivesAtMs.get(robotId) ?? 0) - sim.nowMs + 0.1 : 0;
    const arrivalMs = Math.max(ownMs, behindMs);
    const breaksOff = isFaulty && way >= 0.3;
    if (!order.isStop && !breaksOff) arrivesAtMs.set(robotId, sim.nowMs + arrivalMs);
    const arrive = () => {
      truth.arrived(sending, process);
      if (!order.isStop) made(sending);
    };
    if (!isFaulty) {
      if (way < 0.1) {
        // The session has ended: with a new token it leaves again.
        sim.after(random.between(0, 2_500), () =>
          box.enter(() => leave(sending, order, deadlineMs, resolve)),
        );
        return;
      }
      if (way < 0.2 && !order.isStop) {
        sim.after(arrivalMs, () => truth.refused(sending));
        answer(refused, arrivalMs + hop());
        return;
      }
      sim.after(arrivalMs, arrive);
      answer(ok, arrivalMs + hop());
      return;
    }
    if (way < 0.8) sim.after(arrivalMs, arrive);
    // It is answered, breaks off before it arrives, or waits for its deadline.
    if (way < 0.3 && arrivalMs + 20 < latestMs) answer(ok, arrivalMs + hop());
    else answer(lost, way < 0.6 ? random.between(0, latestMs) : latestMs);
  }

  return {
    call: (
      request,
      deadlineMs,
      leaveWithinMs = deadlineMs,
      order = { isStop: false, mayLeave: () => true },
    ) =>
      new Promise((resolve) => {
        const { operation, requestJson } = openTestRequest(request);
        const { robot = null, to } = JSON.parse(requestJson) as { robot?: string; to: string };
        const sending = { operation, id: to, robotId: robot };
        const delayMs = random.chance(faulty()) ? random.between(0, 4_000) : random.between(0, 3);
        const hasTime = delayMs <= box.trueMs(leaveWithinMs);
        const go = () => (hasTime ? leave(sending, order, deadlineMs, resolve) : resolve(notSent));
        sim.after(hasTime ? delayMs : box.trueMs(leaveWithinMs), () => box.enter(go));
      }),
  };
}
