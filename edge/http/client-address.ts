import { isIPv4, isIPv6 } from 'node:net';
import type { Request } from 'express';

/**
 * The address that a request counts for, behind as many proxies as TRUST_PROXY says. IPv6 counts by /64 (RFC
 * 6177): one household has all of it, and could use another address each time.
 */
export const clientAddress = (request: Request): string => {
  // A proxy may write anything; the peer of the connection has an address.
  return networkOf(request.ip ?? '') ?? networkOf(request.socket.remoteAddress ?? '') ?? 'unknown';
};

/** Undefined for text that is no address. Some proxies write the port as well. */
export const networkOf = (text: string): string | undefined => {
  const address = WITH_PORT.exec(text)?.slice(1).find(Boolean) ?? text;
  if (isIPv4(address)) return address;
  return isIPv6(address) ? networkOfIPv6(address) : undefined;
};

const WITH_PORT = /^(?:\[([^\]]+)\](?::\d+)?|(\d+\.\d+\.\d+\.\d+):\d+)$/;
const GROUPS = 8;
const GROUPS_OF_NETWORK = 4;

const networkOfIPv6 = (address: string): string => {
  const groups = groupsOf(address);
  const [high = '0', low = '0'] = groups.slice(-2);
  if (groups.slice(0, 6).join(':') === '0:0:0:0:0:ffff') return dotted(high, low);
  return `${groups.slice(0, GROUPS_OF_NETWORK).join(':')}::/64`;
};

/** All eight groups, without leading zeros, in whichever form the address was written (RFC 4291 §2.2). */
const groupsOf = (address: string): readonly string[] => {
  const [unscoped = ''] = address.split('%', 1);
  // Compressed, in lower case, and without dots.
  const canonical = new URL(`http://[${unscoped}]`).hostname.slice(1, -1);
  const [before = '', after] = canonical.split('::');
  const head = before === '' ? [] : before.split(':');
  const tail = after === undefined || after === '' ? [] : after.split(':');
  return [...head, ...new Array<string>(GROUPS - head.length - tail.length).fill('0'), ...tail];
};

/** An IPv4 client of a dual-stack socket (RFC 4291 §2.5.5.2) is the same client. */
const dotted = (high: string, low: string): string =>
  [high, low]
    .map((group) => Number.parseInt(group, 16))
    .flatMap((value) => [value >> 8, value & 0xff])
    .join('.');
