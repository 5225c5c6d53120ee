import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isWithin, parseAddress, parseRange, unmapped } from './address.ts';

test.each([
  ['1.2.3.4', { bits: 32, value: 0x0102_0304n }],
  ['255.255.255.255', { bits: 32, value: 0xffff_ffffn }],
  ['::', { bits: 128, value: 0n }],
  ['::1', { bits: 128, value: 1n }],
  ['2001:db8::', { bits: 128, value: 0x2001_0db8n << 96n }],
  ['2001:DB8:0:0:0:0:0:1', { bits: 128, value: (0x2001_0db8n << 96n) | 1n }],
  ['::ffff:127.0.0.1', { bits: 128, value: 0xffff_7f00_0001n }],
  ['fe80::1%eth0', { bits: 128, value: (0xfe80n << 112n) | 1n }],
])('%s is an address', (text, address) => {
  expect(parseAddress(text)).toEqual(address);
});

test.each([
  '',
  '1.2.3',
  '1.2.3.4.5',
  '256.1.1.1',
  '01.2.3.4',
  '0x7f.0.0.1',
  '1.2.3.4 ',
  'example.com',
  ':::',
  '1::2::3',
  '::g',
  '12345::',
  '[::1]',
])('“%s” is none', (text) => {
  expect(parseAddress(text)).toBeUndefined();
});

test.each([
  ['10.0.0.0/8', '10.255.0.1', true],
  ['10.0.0.0/8', '11.0.0.0', false],
  ['10.1.2.3/8', '10.200.0.0', true],
  ['10.1.2.3', '10.1.2.3', true],
  ['10.1.2.3', '10.1.2.4', false],
  ['0.0.0.0/0', '255.255.255.255', true],
  ['0.0.0.0/0', '::1', false],
  ['fd00::/8', 'fdff::1', true],
  ['fd00::/8', 'fe00::1', false],
  ['::/0', '127.0.0.1', false],
  ['::1', '::1', true],
])('%s has %s: %s', (text, address, expected) => {
  const [range, parsed] = [parseRange(text), parseAddress(address)];
  expect(range && parsed && isWithin(parsed, range)).toBe(expected);
});

test.each([
  '',
  '10.0.0.0/33',
  '10.0.0.0/',
  '10.0.0.0/-1',
  '10.0.0.0/8/8',
  '10.0.0.0/a',
  '::/129',
  'fe80::%eth0/10',
  'localhost',
])('“%s” is no range', (text) => {
  expect(parseRange(text)).toBeUndefined();
});

test('every notation of an IPv6 address means the same', () => {
  const groups = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff })), {
    minLength: 8,
    maxLength: 8,
  });
  fc.assert(
    fc.property(groups, (numbers) => {
      const whole = numbers.map((number) => number.toString(16)).join(':');
      const padded = numbers.map((number) => number.toString(16).padStart(4, '0').toUpperCase()).join(':');
      const short = new URL(`http://[${whole}]`).hostname.slice(1, -1);
      const [high = 0, low = 0] = numbers.slice(6);
      const mixed = `${numbers
        .slice(0, 6)
        .map((number) => number.toString(16))
        .join(':')}:${[high >> 8, high & 255, low >> 8, low & 255].join('.')}`;
      const value = numbers.reduce((sum, number) => (sum << 16n) | BigInt(number), 0n);
      for (const text of [whole, padded, short, mixed])
        expect(parseAddress(text)).toEqual({ bits: 128, value });
    }),
  );
});

test('a mapped address equals its IPv4 address, and no other does', () => {
  expect([parseAddress('::ffff:10.1.2.3')].map((address) => address && unmapped(address))).toEqual([
    parseAddress('10.1.2.3'),
  ]);
  for (const text of ['::10.1.2.3', '64:ff9b::10.1.2.3', '10.1.2.3', '1::ffff:10.1.2.3']) {
    const address = parseAddress(text);
    expect(address && unmapped(address)).toEqual(address);
  }
});
