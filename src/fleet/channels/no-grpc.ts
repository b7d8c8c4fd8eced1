/**
 * How grpc-js describes an answer that is no gRPC, and whose HTTP status it takes for the service's own code.
 */
const NO_GRPC = "Received HTTP status code";

/**
 * Whether a status is a balancer's, which answers with a page: it stands before a service that
 * cannot be reached now, and its 403 or 404 is no refusal of the service's.
 */
export function isNoGrpc(details: string): boolean {
  return details.startsWith(NO_GRPC);
}
