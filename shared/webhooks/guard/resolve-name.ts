import type { LookupAddress } from 'node:dns';
import { lookup, Resolver } from 'node:dns/promises';

/** Returns all addresses of a name, at least one. */
export type ResolveName = (hostname: string) => Promise<readonly LookupAddress[]>;

const QUERY_TIMEOUT_MS = 3_000;
const QUERY_TRIES = 2;
/** Fewer than the threads of Node, which the file system and others need too. */
const SYSTEM_LOOKUPS_MAX = 2;

/**
 * Queries the name servers directly, because a lookup by the system occupies one of few threads for as long
 * as a slow name server takes. The system resolves other names, such as those in `/etc/hosts`.
 */
export const createNameResolver = ({
  servers,
  asksSystem = true,
}: {
  readonly servers?: readonly string[];
  /** Without it, only names that name servers know have addresses, and no thread is occupied. */
  readonly asksSystem?: boolean;
} = {}): ResolveName => {
  const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
  if (servers) resolver.setServers(servers);
  const lookUp = asksSystem
    ? atMost(SYSTEM_LOOKUPS_MAX, (hostname) => lookup(hostname, { all: true }))
    : refuseUnknown;
  const resolve: ResolveName = async (hostname) => {
    if (!hostname.replace(/\.$/, '').includes('.')) return lookUp(hostname);
    const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const found = [...addressesOf(ipv4, 4), ...addressesOf(ipv6, 6)];
    if (found.length > 0) return found;
    const failure = [ipv4, ipv6].map(failureOf).find((error) => !UNKNOWN.has(codeOf(error)));
    if (failure !== undefined) throw failure;
    return lookUp(hostname);
  };
  return shared(resolve);
};

const refuseUnknown: ResolveName = async (hostname) => {
  throw Object.assign(new Error(`${hostname} is unknown to the name servers`), { code: 'ENOTFOUND' });
};

/** Name servers do not know the name, or there are none. */
const UNKNOWN = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED', '']);

const addressesOf = (
  result: PromiseSettledResult<readonly string[]>,
  family: 4 | 6,
): readonly LookupAddress[] =>
  result.status === 'fulfilled' ? result.value.map((address) => ({ address, family })) : [];

const failureOf = (result: PromiseSettledResult<unknown>): unknown =>
  result.status === 'rejected' ? result.reason : undefined;

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : '';

/** Shares one answer among concurrent requests for a name. */
const shared = (resolve: ResolveName): ResolveName => {
  const asking = new Map<string, ReturnType<ResolveName>>();
  return (hostname) => {
    const answer = asking.get(hostname) ?? resolve(hostname).finally(() => asking.delete(hostname));
    asking.set(hostname, answer);
    return answer;
  };
};

const atMost = (most: number, resolve: ResolveName): ResolveName => {
  const waiting: (() => void)[] = [];
  let free = most;
  return async (hostname) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((begin) => void waiting.push(begin));
    try {
      return await resolve(hostname);
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
};
