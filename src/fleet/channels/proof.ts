import { type Client, type ServiceError, status } from "@grpc/grpc-js";
import { LOOKS_A_SILENCE } from "../../domain/detection.ts";
import type { FleetOptions } from "../options.ts";
import { asIs, authorization, isNoGrpc } from "./grpc-js.ts";

/** Codes of grpc-js that mean that nothing came from the server. */
const noAnswer: ReadonlySet<number> = new Set([
  status.UNAVAILABLE,
  status.DEADLINE_EXCEEDED,
  status.CANCELLED,
  status.INTERNAL,
  status.UNKNOWN,
]);

/** If the timer is this late, the process was held up, and an answer may lie unread. */
const HELD_UP_MS = 50;

/**
 * Whether the server answers on this connection at all. HTTP/2 pings would show it, but grpc-js hides their
 * answers and many servers punish them. So this calls a read that names no robot: any answer is a sign of
 * life, also a refusal. If the process was held up beyond the time for the answer, it calls once more,
 * because the timer runs before the answer is read.
 */
export async function proveAlive(
  client: Client,
  options: FleetOptions,
  jwt: string | null,
): Promise<boolean> {
  const { callMs, connectMs, streamSilenceMs } = options.times;
  const waitMs = Math.min(callMs, connectMs, streamSilenceMs / LOOKS_A_SILENCE);
  const dueAtMs = performance.now() + waitMs;
  const ask = () => answerTo(client, options.serviceName, jwt, waitMs);
  const answer = await ask();
  if (answer !== "late" || performance.now() - dueAtMs <= HELD_UP_MS) return answer === "given";
  // The connection may have been closed meanwhile: then grpc-js throws.
  return (await ask().catch(() => "none")) === "given";
}

function answerTo(
  client: Client,
  serviceName: string,
  jwt: string | null,
  waitMs: number,
): Promise<"given" | "late" | "none"> {
  return new Promise((resolve) => {
    client.makeUnaryRequest(
      `/${serviceName}/ListWebhooks`,
      asIs,
      asIs,
      Buffer.alloc(0),
      authorization(jwt ?? ""),
      { deadline: new Date(Date.now() + waitMs) },
      (error) => {
        if (error === null || isAnswer(error)) resolve("given");
        else resolve(error.code === status.DEADLINE_EXCEEDED ? "late" : "none");
      },
    );
  });
}

function isAnswer({ code, details }: ServiceError): boolean {
  return !noAnswer.has(code ?? status.UNKNOWN) && !isNoGrpc(details);
}
