import type { IncomingHttpHeaders } from "node:http";
import type { Source } from "../../domain/command.ts";
import { isPlainText } from "../../domain/refusals.ts";

const USER_CHARACTERS = 64;
/** The source of a request that names no user. */
const anonymous: Source = { protocol: "cli", name: "local" };

/**
 * The source of a request over the control socket: the user of its `Fleetgate-User` header, percent-encoded.
 * The mode of the file authorizes the request. The name is the client's word, for rights and the audit log.
 * The second value says what is wrong with the header; null when nothing is.
 */
export function senderOf({
  "fleetgate-user": header,
}: IncomingHttpHeaders): readonly [Source, string | null] {
  if (header === undefined) return [anonymous, null];
  const name = decoded(String(header));
  // In a command's identity a slash separates the name from the request id.
  if (isPlainText(name, USER_CHARACTERS) && !name.includes("/")) return [{ ...anonymous, name }, null];
  const reason = `fleetgate-user: must be percent-encoded text of 1 to ${USER_CHARACTERS} printable characters without /`;
  return [anonymous, reason];
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}
