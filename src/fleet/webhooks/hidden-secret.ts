import { SECRET_HEADER } from "./receiver.ts";

/** The header in JSON, in any case: names of HTTP headers are case-insensitive. */
const SHOWN = new RegExp(`("${SECRET_HEADER}"\\s*:\\s*)"(?:[^"\\\\]|\\\\.)*"`, "gi");

/**
 * The answer of the service without the secrets of gateways. ListWebhooks shows the headers of every
 * subscription of the distributor, also those of other gateways, and with a gateway's secret anybody can send
 * it deliveries.
 */
export function hideSecrets(responseJson: string): string {
  return responseJson.replace(SHOWN, '$1"(hidden)"');
}
