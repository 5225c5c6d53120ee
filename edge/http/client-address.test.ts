import { expect, test } from 'vitest';
import { networkOf } from './client-address.ts';

test.each([
  ['an IPv4 address is counted by itself', '192.0.2.7', '192.0.2.7'],
  ['an IPv4 address on a socket for both is the same client', '::ffff:192.0.2.7', '192.0.2.7'],
  ['the same in hexadecimal', '::FFFF:c000:207', '192.0.2.7'],
  ['an IPv6 address is counted by its /64', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['however it is written', '2001:0DB8:0001:0002:ffff::', '2001:db8:1:2::/64'],
  ['with the gap inside the network', '2001:db8::1', '2001:db8:0:0::/64'],
  ['the gap at the front', '::1', '0:0:0:0::/64'],
  ['nothing but a gap', '::', '0:0:0:0::/64'],
  ['a gap at the end', 'fe80::', 'fe80:0:0:0::/64'],
  ['a zone does not matter', 'fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['a port that a proxy wrote is left out', '192.0.2.7:51234', '192.0.2.7'],
  ['a port after IPv6', '[2001:db8:1:2::9]:51234', '2001:db8:1:2::/64'],
  ['brackets alone', '[2001:db8:1:2::9]', '2001:db8:1:2::/64'],
])('%s', (_, written, network) => {
  expect(networkOf(written)).toBe(network);
});

test.each([
  '',
  'unknown',
  '_hidden',
  '192.0.2',
  '192.0.2.256',
  '1:2:3',
  'localhost',
  '[192.0.2.7',
  '192.0.2.7:port',
  '::1]:8',
])('“%s” is no address', (text) => {
  expect(networkOf(text)).toBeUndefined();
});
