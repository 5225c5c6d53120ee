import { AsyncLocalStorage } from 'node:async_hooks';
import type { Request } from 'express';
import Provider from 'oidc-provider';
import { clientAddress } from '#edge/http/client-address.ts';
import { browserOf } from './browser-words.ts';

/**
 * The browser and network that last used a session. Stored encrypted with the session, and deleted with it.
 */
export type Visit = {
  /** Words such as “Firefox on Linux”: more detail would identify a person. */
  readonly browser: string;
  /** The network, not the address. */
  readonly network: string;
  readonly atS: number;
};

const visiting = new AsyncLocalStorage<Request>();

/** Attributes saves during `work` to this request. oidc-provider's own requests are known without it. */
export const duringVisit = <Result>(request: Request, work: () => Promise<Result>): Promise<Result> =>
  visiting.run(request, work);

/** Undefined outside a request. */
export const currentVisit = (): Visit | undefined => {
  // Express created it; oidc-provider passes it on.
  const request = visiting.getStore() ?? (Provider.ctx?.req as Request | undefined);
  return request === undefined ? undefined : visitOf(request);
};

const MS_PER_SECOND = 1_000;

export const visitOf = (request: Request): Visit => ({
  browser: browserOf(request.headers['user-agent'] ?? ''),
  network: coarse(clientAddress(request)),
  atS: Math.floor(Date.now() / MS_PER_SECOND),
});

const GROUPS_KEPT = 3;

/** A /24 of IPv4, a /48 of IPv6: enough to distinguish home from abroad, too coarse to find a household. */
const coarse = (address: string): string => {
  const octets = address.split('.');
  if (octets.length === 4) return `${octets.slice(0, 3).join('.')}.x`;
  const groups = address.split(':');
  return groups.length > GROUPS_KEPT ? `${groups.slice(0, GROUPS_KEPT).join(':')}:x` : 'unknown';
};
