import type { FastifyRequest } from "fastify";
import { expect, it } from "vitest";
import { openViewer, senderOfViewer } from "../../../../src/northbound/web/sender.ts";

const request = {} as FastifyRequest;

it("names the viewer as the source, and nobody where a route is asked without one", () => {
  expect(senderOfViewer(() => openViewer)(request)).toEqual([{ protocol: "web", name: "open" }, null]);
  expect(senderOfViewer(() => null)(request)[1]).toBe("log in first");
});
