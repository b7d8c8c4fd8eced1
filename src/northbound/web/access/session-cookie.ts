/** The cookie that names a browser's session. */
export interface SessionCookie {
  readonly name: string;
  /** The header that gives a browser its session. */
  set(secret: string): string;
  /** The header that takes it away. */
  clear(): string;
  /** The secret in a `Cookie` header; null: there is none, or more than one. */
  read(header: string | undefined): string | null;
}

/**
 * Browsers send the cookies of a host to all its ports, so the name has the gateway's id. With `__Host-` a
 * browser accepts the cookie only over TLS and from the host itself: no other host of the domain can set it.
 */
export function createSessionCookie(gatewayId: string, isTls: boolean): SessionCookie {
  const name = `${isTls ? "__Host-" : ""}fleetgate_session_${Buffer.from(gatewayId).toString("hex")}`;
  const attributes = `Path=/; HttpOnly; SameSite=Strict${isTls ? "; Secure" : ""}`;
  return {
    name,
    set: (secret) => `${name}=${secret}; ${attributes}`,
    clear: () => `${name}=; Max-Age=0; ${attributes}`,
    read(header = "") {
      const values = header.split(";").flatMap((part) => {
        const at = part.indexOf("=");
        return at !== -1 && part.slice(0, at).trim() === name ? [part.slice(at + 1).trim()] : [];
      });
      // Somebody else has set a second one, and nothing tells which is the browser's own.
      return values.length === 1 ? (values[0] ?? null) : null;
    },
  };
}
