import type { OpaqueRequest } from "../../src/contracts/operation.ts";

/** What the operations of the tests' own catalogues pass to the port. */
export interface TestRequest {
  readonly operation: string;
  readonly requestJson: string;
}

export function testRequest(operation: string, requestJson: string): OpaqueRequest {
  const request: TestRequest = { operation, requestJson };
  return request as unknown as OpaqueRequest;
}

export function openTestRequest(request: OpaqueRequest): TestRequest {
  return request as unknown as TestRequest;
}
