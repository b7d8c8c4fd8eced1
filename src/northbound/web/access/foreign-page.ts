import { quoted } from "../../../domain/clip.ts";

/** The headers of a browser's request that say which page sent it. */
export interface PageHeaders {
  readonly host?: string | undefined;
  readonly origin?: string | undefined;
  readonly "sec-fetch-site"?: string | string[] | undefined;
}

/**
 * Why a request is refused that a page of another origin sent, as a sentence; null for any other. Programs
 * send none of these headers. A browser gives `same-site` to a page of another port of this host, to which it
 * sends the cookies of this gateway.
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

/** Without TLS either scheme may be its own: before the gateway a proxy may end TLS. */
function isOwnOrigin(origin: string, host: string | undefined, isTls: boolean): boolean {
  const scheme = isTls ? /^https:\/\//i : /^https?:\/\//i;
  if (host === undefined || !scheme.test(origin) || !URL.canParse(origin)) return false;
  const { protocol, host: wanted } = new URL(origin);
  const own = `${protocol}//${host}`;
  return URL.canParse(own) && new URL(own).host === wanted;
}
