import { SECRET_HEADER } from "./receiver.ts";

/** The header in JSON, in any spelling: the names of HTTP headers know no case. */
const SHOWN = new RegExp(`("${SECRET_HEADER}"\\s*:\\s*)"(?:[^"\\\\]|\\\\.)*"`, "gi");

/**
 * The same answer of the service without the secrets of gateways: ListWebhooks shows the headers of every
 * subscription of the distributor, so another gateway's too. With a gateway's secret anyone can send it
 * deliveries.
 */
export function hideSecrets(responseJson: string): string {
  return responseJson.replace(SHOWN, '$1"(hidden)"');
}
