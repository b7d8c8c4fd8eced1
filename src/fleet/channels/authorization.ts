import { Metadata } from "@grpc/grpc-js";

/** The header that every call carries (fleet-service-interface, Authentication). */
export function authorization(jwt: string): Metadata {
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${jwt}`);
  return metadata;
}
