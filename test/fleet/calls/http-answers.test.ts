import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { callHttp, errorOfHttp } from "../../../src/fleet/calls/service-call.ts";
import type { Http, HttpAnswer } from "../../../src/fleet/http.ts";
import { methods } from "../../../src/fleet/operations/row.ts";

const PAGE = "<html><h1>default backend - 404</h1></html>";
const bySpring = '{"status":404,"error":"Not Found"}';

const none: HttpAnswer["headers"] = {};
const coded = (code: string): HttpAnswer["headers"] => ({ "grpc-status": code });
const answerOf = (status: number, text: string, headers = none): HttpAnswer => ({
  status,
  headers,
  parts: [Buffer.from(text)],
});

test.each([
  ["a page", 400, PAGE, none, "UNKNOWN"],
  ["a page", 403, PAGE, none, "UNKNOWN"],
  ["a page", 404, PAGE, none, "UNKNOWN"],
  ["a page", 501, PAGE, none, "UNKNOWN"],
  ["nothing", 404, "", none, "UNKNOWN"],
  // A balancer may judge a token, and say that there is no service.
  ["a page", 401, PAGE, none, "UNAUTHENTICATED"],
  ["a page", 429, PAGE, none, "RESOURCE_EXHAUSTED"],
  ["a page", 503, PAGE, none, "UNAVAILABLE"],
  ["an object", 404, bySpring, none, "NOT_FOUND"],
  ["the code", 404, "", coded("5"), "NOT_FOUND"],
  ["the code, and a page", 400, PAGE, coded("9"), "FAILED_PRECONDITION"],
] as const)("%s with status %i: only the service itself refuses", (_, status, text, headers, code) => {
  expect(errorOfHttp(answerOf(status, text, headers)).code).toBe(code);
});

async function callOf(operation: string, answer: HttpAnswer) {
  const method = methods.get(operation);
  if (method === undefined) throw new Error(`there is no operation ${operation}`);
  const http: Http = { send: async () => answer, async [Symbol.asyncDispose]() {} };
  const times = { deadlineMs: 1_000, leaveWithinMs: 1_000 };
  const { signal } = new AbortController();
  const request = create(method.desc.input);
  return callHttp(http, "https://fleet.example.com", method, request, "jwt", () => true, times, signal);
}

test.each([
  ["CancelTaskChain", 200, "", "ok"],
  ["CancelTaskChain", 204, "", "ok"],
  ["CancelTaskChain", 302, "", "unknown"],
  ["AddTaskChain", 201, '{"taskChainId":7}', "ok"],
  // It would name chain 0.
  ["AddTaskChain", 200, "", "unknown"],
  ["GetOnlineRobots", 204, "", "unknown"],
  ["AddTaskChain", 404, PAGE, "unknown"],
] as const)("%s is answered %i and %j: %s", async (operation, status, text, kind) => {
  expect((await callOf(operation, answerOf(status, text))).kind).toBe(kind);
});
