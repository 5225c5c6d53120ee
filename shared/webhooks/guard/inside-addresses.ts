import { type AddressRange, isWithin, parseAddress, parseRange, unmapped } from './address.ts';

/** Whether a request may be sent to this address: it is public, or the operator allows it. */
export const isAddressAllowed = (text: string, allowed: readonly AddressRange[]): boolean => {
  const address = parseAddress(text);
  if (!address) return false;
  const ranges = address.bits === 32 ? INSIDE_IPV4 : INSIDE_IPV6;
  const isOutside =
    (address.bits === 32 || isWithin(address, GLOBAL_IPV6)) &&
    !ranges.some((range) => isWithin(address, range));
  return isOutside || allowed.some((range) => isWithin(address, range) || isWithin(unmapped(address), range));
};

const range = (text: string): AddressRange => {
  const parsed = parseRange(text);
  if (!parsed) throw new RangeError(`${text} is not a range of addresses`);
  return parsed;
};

/**
 * The special-purpose addresses of the registry (RFC 6890), and those by which clouds serve metadata to their
 * machines.
 */
const INSIDE_IPV4: readonly AddressRange[] = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '168.63.129.16',
].map(range);

/** All public IPv6 addresses are in here; embedded IPv4 addresses (mapped, compatible, NAT64) are not. */
const GLOBAL_IPV6 = range('2000::/3');

/** Except protocols such as Teredo, documentation, and 6to4. */
const INSIDE_IPV6: readonly AddressRange[] = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'].map(
  range,
);
