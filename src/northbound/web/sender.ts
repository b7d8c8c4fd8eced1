import type { IncomingHttpHeaders } from "node:http";
import type { Source } from "../../domain/command.ts";
import { isPlainText } from "../../domain/refusals.ts";

const USER_CHARACTERS = 64;
/** The user of a request that names none. */
const nobody: Source = { door: "cli", name: "local" };

/**
 * Who sends a request over the control socket: the user of its `Fleetgate-User` header, percent-encoded. The file's
 * mode is what authorizes the request; the name is the client's word, for rights and the audit log. The second
 * value says what is wrong with the header.
 */
export function senderOf({
  "fleetgate-user": header,
}: IncomingHttpHeaders): readonly [Source, string | null] {
  if (header === undefined) return [nobody, null];
  const name = decoded(String(header));
  // A slash parts a name from a request id in a command's identity.
  if (isPlainText(name, USER_CHARACTERS) && !name.includes("/")) return [{ ...nobody, name }, null];
  const reason = `fleetgate-user: must be percent-encoded text of 1 to ${USER_CHARACTERS} printable characters without /`;
  return [nobody, reason];
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}
