import { type Client, type ServiceError, status } from "@grpc/grpc-js";
import { LOOKS_A_SILENCE } from "../../domain/detection.ts";
import type { FleetOptions } from "../options.ts";
import { asIs, authorization, isNoGrpc } from "./grpc-js.ts";

/** Codes that grpc-js gives where nothing came from the server. */
const noAnswer: ReadonlySet<number> = new Set([
  status.UNAVAILABLE,
  status.DEADLINE_EXCEEDED,
  status.CANCELLED,
  status.INTERNAL,
  status.UNKNOWN,
]);

/**
 * Whether the server answers on this connection at all. HTTP/2 pings would tell, but
 * grpc-js does not show their answers and many servers punish them; so a read is
 * called that names no robot. Any answer is a sign of life, a refusal too.
 */
export function proveAlive(client: Client, options: FleetOptions, jwt: string | null): Promise<boolean> {
  const { callMs, connectMs, streamSilenceMs } = options.times;
  const waitMs = Math.min(callMs, connectMs, streamSilenceMs / LOOKS_A_SILENCE);
  return new Promise((resolve) => {
    client.makeUnaryRequest(
      `/${options.serviceName}/ListWebhooks`,
      asIs,
      asIs,
      Buffer.alloc(0),
      authorization(jwt ?? ""),
      { deadline: new Date(Date.now() + waitMs) },
      (error) => resolve(error === null || isAnswer(error)),
    );
  });
}

function isAnswer({ code, details }: ServiceError): boolean {
  return !noAnswer.has(code ?? status.UNKNOWN) && !isNoGrpc(details);
}
