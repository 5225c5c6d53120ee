/** An IP address as a number, so that all notations are equal. */
type Address = { readonly bits: 32 | 128; readonly value: bigint };

/** Addresses with a common prefix. */
export type AddressRange = Address & { readonly prefixBits: number };

/**
 * An address in the notation of the URL parser, a resolver or a socket; a zone (`%eth0`) does not change
 * where it leads.
 */
export const parseAddress = (text: string): Address | undefined => {
  const [plain = ''] = text.split('%', 1);
  return plain.includes(':') ? parseIpv6(plain) : parseIpv4(plain);
};

/** `10.0.0.0/8`, `fd00::/8`, or one address. */
export const parseRange = (text: string): AddressRange | undefined => {
  const [start = '', length] = text.split('/', 2);
  const address = text.includes('%') ? undefined : parseAddress(start);
  if (!address || text.split('/').length > 2) return undefined;
  if (length !== undefined && !/^\d{1,3}$/.test(length)) return undefined;
  const prefixBits = length === undefined ? address.bits : Number(length);
  return prefixBits <= address.bits ? { ...address, prefixBits } : undefined;
};

export const isWithin = (address: Address, range: AddressRange): boolean =>
  address.bits === range.bits &&
  (address.value ^ range.value) >> BigInt(range.bits - range.prefixBits) === 0n;

/** `::ffff:127.0.0.1` leads to 127.0.0.1. */
export const unmapped = (address: Address): Address =>
  address.bits === 128 && address.value >> 32n === MAPPED
    ? { bits: 32, value: address.value & IPV4_MAX }
    : address;

const MAPPED = 0xffffn;
const IPV4_MAX = 0xffff_ffffn;

const IPV4 = /^(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})$/;

const parseIpv4 = (text: string): Address | undefined => {
  const bytes = IPV4.exec(text)?.slice(1).map(Number);
  if (!bytes || bytes.some((byte) => byte > 255)) return undefined;
  return { bits: 32, value: bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n) };
};

const GROUPS = 8;

/** The URL parser knows every form, and writes groups of hexadecimal digits with at most one `::`. */
const parseIpv6 = (text: string): Address | undefined => {
  const url = `http://[${text}]`;
  if (!/^[0-9a-f:.]+$/i.test(text) || !URL.canParse(url)) return undefined;
  const [head = [], tail = []] = new URL(url).hostname
    .slice(1, -1)
    .split('::')
    .map((part) => part.split(':').filter((group) => group !== ''));
  const groups = [...head, ...new Array<string>(GROUPS - head.length - tail.length).fill('0'), ...tail];
  return { bits: 128, value: groups.reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n) };
};
