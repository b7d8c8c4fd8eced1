import type { FastifyInstance } from "fastify";
import type { OperationManual } from "../../../contracts/operation-manual.ts";
import { openApiDocument } from "./document.ts";

export interface OpenApiRouteParts {
  readonly version: string;
  readonly catalogue: OperationManual;
  /** Whether a simulated fleet service runs beside the gateway. */
  readonly hasSimulator: boolean;
}

/** `GET /api/v1/openapi.json`: the API for programs. Made at the first request. */
export function addOpenApiRoute(
  server: FastifyInstance,
  { version, catalogue, hasSimulator }: OpenApiRouteParts,
): void {
  let text: string | null = null;
  server.get("/api/v1/openapi.json", async (_request, reply) => {
    text ??= JSON.stringify(openApiDocument(version, catalogue, hasSimulator));
    return reply.type("application/json; charset=utf-8").send(text);
  });
}
