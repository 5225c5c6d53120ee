import { expect, test } from 'vitest';
import { parseRange } from './address.ts';
import { isAddressAllowed } from './inside-addresses.ts';

/** The first and the last address of each private range, and its public neighbours. */
test.each([
  ['0.0.0.0/8', '0.0.0.0', '0.255.255.255', ['1.0.0.0']],
  ['10.0.0.0/8', '10.0.0.0', '10.255.255.255', ['9.255.255.255', '11.0.0.0']],
  ['100.64.0.0/10', '100.64.0.0', '100.127.255.255', ['100.63.255.255', '100.128.0.0']],
  ['127.0.0.0/8', '127.0.0.0', '127.255.255.255', ['126.255.255.255', '128.0.0.0']],
  ['169.254.0.0/16', '169.254.0.0', '169.254.255.255', ['169.253.255.255', '169.255.0.0']],
  ['172.16.0.0/12', '172.16.0.0', '172.31.255.255', ['172.15.255.255', '172.32.0.0']],
  ['192.0.0.0/24', '192.0.0.0', '192.0.0.255', ['191.255.255.255', '192.0.1.0']],
  ['192.0.2.0/24', '192.0.2.0', '192.0.2.255', ['192.0.1.255', '192.0.3.0']],
  ['192.88.99.0/24', '192.88.99.0', '192.88.99.255', ['192.88.98.255', '192.88.100.0']],
  ['192.168.0.0/16', '192.168.0.0', '192.168.255.255', ['192.167.255.255', '192.169.0.0']],
  ['198.18.0.0/15', '198.18.0.0', '198.19.255.255', ['198.17.255.255', '198.20.0.0']],
  ['198.51.100.0/24', '198.51.100.0', '198.51.100.255', ['198.51.99.255', '198.51.101.0']],
  ['203.0.113.0/24', '203.0.113.0', '203.0.113.255', ['203.0.112.255', '203.0.114.0']],
  ['224.0.0.0/4 and 240.0.0.0/4', '224.0.0.0', '255.255.255.255', ['223.255.255.255']],
  ['the inside of Azure', '168.63.129.16', '168.63.129.16', ['168.63.129.15', '168.63.129.17']],
  ['below 2000::/3', '::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', []],
  ['above 2000::/3', '4000::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', ['3ffe:ffff::']],
  ['2001::/23', '2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', ['2000:ffff::', '2000::', '2001:200::']],
  ['2001:db8::/32', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', ['2001:db7::', '2001:db9::']],
  ['2002::/16', '2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', ['2001:ffff::', '2003::']],
  ['3fff::/20', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', ['3ffe::', '3fff:1000::']],
])('%s is inside, and what lies beside it is not', (_, first, last, beside) => {
  expect([first, last].map((address) => isAddressAllowed(address, []))).toEqual([false, false]);
  for (const address of beside) expect(isAddressAllowed(address, []), address).toBe(true);
});

test.each([
  ['mapped', '::ffff:127.0.0.1'],
  ['mapped, in hexadecimal', '::ffff:7f00:1'],
  ['mapped, of the Internet', '::ffff:93.184.215.14'],
  ['compatible', '::7f00:1'],
  ['compatible', '::127.0.0.1'],
  ['translated', '::ffff:0:127.0.0.1'],
  ['NAT64', '64:ff9b::127.0.0.1'],
  ['NAT64 of a network', '64:ff9b:1::a00:1'],
  ['6to4', '2002:7f00:1::'],
  ['6to4 of 169.254.169.254', '2002:a9fe:a9fe::1'],
  ['Teredo', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  ['ORCHID', '2001:20::1'],
  ['link-local', 'fe80::1'],
  ['link-local with a zone', 'fe80::1%eth0'],
  ['unique local', 'fd12:3456::1'],
  ['the inside of AWS', 'fd00:ec2::254'],
  ['site-local', 'fec0::1'],
  ['multicast', 'ff02::1'],
  ['discarded', '100::1'],
  ['the inside of clouds', '169.254.169.254'],
  ['the inside of Alibaba', '100.100.100.200'],
  ['the inside of Oracle', '192.0.0.192'],
  ['no address', 'example.com'],
  ['nothing', ''],
])('%s (%s) is inside', (_, address) => {
  expect(isAddressAllowed(address, [])).toBe(false);
});

test.each(['8.8.8.8', '93.184.215.14', '2606:4700::1111', '2a00:1450:4001::200e'])(
  '%s is public',
  (address) => {
    expect(isAddressAllowed(address, [])).toBe(true);
  },
);

test.each([
  ['10.1.0.0/16', '10.1.2.3', true],
  ['10.1.0.0/16', '::ffff:10.1.2.3', true],
  ['10.1.0.0/16', '10.2.0.1', false],
  ['10.1.0.0/16', '::10.1.2.3', false],
  ['10.1.0.0/16', '127.0.0.1', false],
  ['::1', '::1', true],
  ['::1', '127.0.0.1', false],
  ['fe80::/10', 'fe80::1%eth0', true],
])('where %s is allowed, %s is: %s', (allowed, address, expected) => {
  expect(
    isAddressAllowed(
      address,
      [parseRange(allowed)].flatMap((range) => range ?? []),
    ),
  ).toBe(expected);
});
