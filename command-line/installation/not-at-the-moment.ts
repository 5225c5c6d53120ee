const STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/**
 * The sentence about a server, or the proxy in front of it, that does not serve at the moment; undefined for
 * any other response.
 */
export const notAtTheMoment = (url: string, status: number, code?: string): string | undefined =>
  STATUSES.has(status)
    ? `Annals at ${url} cannot answer at the moment (status ${status}${code === undefined ? '' : `, ${code}`}): retry in a few seconds.`
    : undefined;
