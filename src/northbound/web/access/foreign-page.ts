import { quoted } from "../../../domain/clip.ts";

/** The headers of a browser's request that name the page that sent it. */
export interface PageHeaders {
  readonly host?: string | undefined;
  readonly origin?: string | undefined;
  readonly "sec-fetch-site"?: string | string[] | undefined;
}

/**
 * Why a request from a page of another origin is refused, as a sentence; null for any other request. Programs
 * send none of these headers. For a page of another port of this host a browser sends `same-site`, and the
 * cookies of this gateway.
 */
export function foreignPage(
  { host, origin, "sec-fetch-site": site }: PageHeaders,
  isTls: boolean,
): string | null {
  const advice = "only the gateway's own page may ask this from a browser";
  if (origin !== undefined && !isOwnOrigin(origin, host, isTls))
    return `the origin ${quoted(origin)}: ${advice}`;
  if (site !== undefined && site !== "same-origin" && site !== "none") return `a foreign page: ${advice}`;
  return null;
}

/** Without TLS either scheme may be its own: a proxy before the gateway may end TLS. */
function isOwnOrigin(origin: string, host: string | undefined, isTls: boolean): boolean {
  const scheme = isTls ? /^https:\/\//i : /^https?:\/\//i;
  if (host === undefined || !scheme.test(origin) || !URL.canParse(origin)) return false;
  const { protocol, host: wanted } = new URL(origin);
  const own = `${protocol}//${host}`;
  return URL.canParse(own) && new URL(own).host === wanted;
}
