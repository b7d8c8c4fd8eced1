import { create } from "@bufbuild/protobuf";
import { Client, credentials } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { callGrpc } from "../../../src/fleet/calls/service-call.ts";
import { methods } from "../../../src/fleet/operations/row.ts";

test("a call on a connection that was closed in this very moment has not left", async () => {
  const client = new Client("localhost:1", credentials.createInsecure());
  client.close();
  const method = methods.get("ListWebhooks");
  if (method === undefined) throw new Error("there is no such operation");
  const request = create(method.desc.input);
  expect(await callGrpc(client, "fleet.v1.FleetService", method, request, "jwt", 1_000)).toEqual({
    kind: "not_sent",
    message: "Channel has been shut down",
  });
});
