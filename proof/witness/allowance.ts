import type { Clock } from '#shared/clock/clock.ts';

/** Requests of one address at once, in seconds of its rate. */
const BURST_S = 2;
/** More addresses than this forget the one that was seen first. */
const ADDRESSES_MAX = 10_000;

/** Says whether an address may ask now. Each gains one request after another with time. */
export const createAllowance = (
  perSecond: number,
  clock: Pick<Clock, 'elapsedMs'>,
): ((address: string) => boolean) => {
  const burst = perSecond * BURST_S;
  const left = new Map<string, { requests: number; atMs: number }>();
  return (address) => {
    const nowMs = clock.elapsedMs();
    const { requests, atMs } = left.get(address) ?? { requests: burst, atMs: nowMs };
    const gained = Math.min(burst, requests + ((nowMs - atMs) / 1_000) * perSecond);
    const isAllowed = gained >= 1;
    left.delete(address);
    left.set(address, { requests: isAllowed ? gained - 1 : gained, atMs: nowMs });
    const [oldest] = left.keys();
    if (left.size > ADDRESSES_MAX && oldest !== undefined) left.delete(oldest);
    return isAllowed;
  };
};
