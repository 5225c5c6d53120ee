import { type AddressRange, parseAddress } from './address.ts';
import { isAddressAllowed } from './inside-addresses.ts';

/** The operator’s rules for requests to receivers. */
export type GuardRules = {
  /** Private addresses that are allowed nevertheless. */
  readonly allowed: readonly AddressRange[];
  readonly ports: 'any' | ReadonlySet<number>;
};

/**
 * The fault of a receiver’s URL, as far as the URL itself shows it, in a sentence; its name is resolved at
 * every attempt, because the addresses may change.
 */
export const checkUrl = (text: string, { allowed, ports }: GuardRules): string | undefined => {
  if (/[\s\p{Cc}]/u.test(text) || !URL.canParse(text)) return NO_URL;
  const url = new URL(text);
  if (!Object.hasOwn(DEFAULT_PORTS, url.protocol)) return NO_URL;
  if (url.username !== '' || url.password !== '')
    return 'Must not have a user name or a password: send them in a header.';
  if (ports !== 'any' && !ports.has(portOf(url)))
    return `Must have one of the allowed ports: ${[...ports].join(', ')}.`;
  if (!isHostAllowed(url.hostname, allowed)) return 'Must lead to a public address, not to a private one.';
  return undefined;
};

const NO_URL = 'Must be an http or https URL.';

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

const portOf = ({ port, protocol }: URL): number =>
  port === '' ? (DEFAULT_PORTS[protocol] ?? 0) : Number(port);

/**
 * The parser normalizes every notation of an address: decimal, octal, hexadecimal, short, encoded, in wide
 * digits, with a trailing dot.
 */
const isHostAllowed = (hostname: string, allowed: readonly AddressRange[]): boolean => {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (parseAddress(host)) return isAddressAllowed(host, allowed);
  // RFC 6761: it leads to the machine itself, whatever the name server says.
  if (/(^|\.)localhost\.?$/.test(host))
    return LOOPBACKS.some((address) => isAddressAllowed(address, allowed));
  return true;
};

const LOOPBACKS = ['127.0.0.1', '::1'];
