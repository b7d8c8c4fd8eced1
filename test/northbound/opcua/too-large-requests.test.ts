import {
  AttributeIds,
  BrowseRequest,
  ReadRequest,
  StatusCodes,
  TranslateBrowsePathsToNodeIdsRequest,
  TranslateBrowsePathsToNodeIdsResponse,
} from "node-opcua";
import { describe, expect, it } from "vitest";
import {
  aboutOneServer,
  browse,
  client,
  items,
  LONGEST_TURN_MS,
  openClient,
  SERVICE_FAULT,
  timed,
} from "./large-requests-harness.ts";
import { encoded } from "./raw-client.ts";

aboutOneServer();

describe("a request that asks for too much", () => {
  it("with a list that no service takes is refused before it is decoded", async () => {
    const [answer, longestMs] = await timed(
      new ReadRequest({
        requestHeader: client.requestHeader,
        nodesToRead: items(() => ({ nodeId: "i=85", attributeId: AttributeIds.NodeId }), 300_000),
      }),
    );
    expect(answer.type).toBe(SERVICE_FAULT);
    expect(answer.status).toBe(StatusCodes.BadEncodingLimitsExceeded.value);
    expect(longestMs).toBeLessThan(LONGEST_TURN_MS);
  });

  it("with many lists in its list is refused before it is decoded", async () => {
    const element = { referenceTypeId: "i=33", targetName: { namespaceIndex: 2, name: "r1" } };
    const elements = items(() => element, 30);
    const [answer, longestMs] = await timed(
      new TranslateBrowsePathsToNodeIdsRequest({
        requestHeader: client.requestHeader,
        browsePaths: items(() => ({ startingNode: "ns=2;s=Robots", relativePath: { elements } })),
      }),
    );
    expect(answer.type).toBe(SERVICE_FAULT);
    expect(answer.status).toBe(StatusCodes.BadEncodingLimitsExceeded.value);
    expect(longestMs).toBeLessThan(LONGEST_TURN_MS);
  });

  it("with a path as long as the request may be is refused by its result", async () => {
    const elements = items((index) => ({
      referenceTypeId: "i=33",
      isInverse: index % 2 === 1,
      includeSubtypes: true,
      targetName: { namespaceIndex: 2, name: index % 2 === 1 ? "Robots" : "r1" },
    }));
    const [answer, longestMs] = await timed(
      new TranslateBrowsePathsToNodeIdsRequest({
        requestHeader: client.requestHeader,
        browsePaths: [{ startingNode: "ns=2;s=Robots", relativePath: { elements } }],
      }),
    );
    const [result] = answer.read(new TranslateBrowsePathsToNodeIdsResponse()).results ?? [];
    expect(result?.statusCode).toBe(StatusCodes.BadQueryTooComplex);
    expect(longestMs).toBeLessThan(LONGEST_TURN_MS);
  });

  it("of a client that takes less gets BadResponseTooLarge, and the connection stays", async () => {
    const small = await openClient(64 * 1024);
    const nodesToBrowse = items(() => browse("ns=2;s=Robots.r1"), 100);
    const ask = (length: number) =>
      small.channel.call(
        new BrowseRequest({
          requestHeader: small.requestHeader,
          nodesToBrowse: nodesToBrowse.slice(0, length),
        }),
      );
    const answer = await ask(100);
    expect(answer?.type).toBe(SERVICE_FAULT);
    expect(answer?.status).toBe(StatusCodes.BadResponseTooLarge.value);
    expect((await ask(2))?.status).toBe(StatusCodes.Good.value);
    small.channel.hangUp();
  });

  it("than an answer has room for gets BadResponseTooLarge too", async () => {
    const request = new ReadRequest({
      requestHeader: client.requestHeader,
      nodesToRead: items(() => ({
        nodeId: "ns=2;s=EnumValues.MissionOperation",
        attributeId: AttributeIds.Value,
      })),
    });
    const [answer, longestMs] = await timed(request);
    expect(answer.type).toBe(SERVICE_FAULT);
    expect(answer.status).toBe(StatusCodes.BadResponseTooLarge.value);
    expect(longestMs).toBeLessThan(LONGEST_TURN_MS);
  });

  it("and reads none of its answers is not read further", async () => {
    const silent = await openClient();
    const bodyOf = (requestHeader: typeof client.requestHeader) =>
      encoded(
        new ReadRequest({
          requestHeader,
          nodesToRead: items(
            () => ({ nodeId: "ns=2;s=EnumValues.MissionOperation", attributeId: AttributeIds.Value }),
            4_000,
          ),
        }),
      );
    const [body, others] = [bodyOf(silent.requestHeader), bodyOf(client.requestHeader)];
    silent.channel.pause();
    // More than the buffers of the system take.
    for (let count = 0; count < 100; count += 1) silent.channel.sendRequest(body);
    let unsent = Number.POSITIVE_INFINITY;
    for (let isRead = true; isRead; ) {
      // Each takes as long as one of its own: in the turns of two something would have been read.
      for (let count = 0; count < 2; count += 1) await client.channel.ask(others);
      isRead = silent.channel.unsentBytes() < unsent;
      unsent = silent.channel.unsentBytes();
    }
    expect(unsent).toBeGreaterThan(0);
    silent.channel.hangUp();
  });
});
