import { expect, test } from 'vitest';
import { hostsIn, withoutHost } from './address.ts';

test.each([
  ['esdb://h:2113?tls=false', ['h:2113']],
  ['esdb+discover://h', ['h']],
  ['esdb://a:2113,b:2113,c:2113', ['a:2113', 'b:2113', 'c:2113']],
  [
    'esdb://annals:a%3Ab@a:2113,b.example.org,c:2113?nodePreference=leader',
    ['a:2113', 'b.example.org', 'c:2113'],
  ],
  ['esdb://a:2113,b:2113/?tls=false', ['a:2113', 'b:2113']],
])('%s has its hosts, without user and password', (address, hosts) => {
  expect(hostsIn(address)).toEqual(hosts);
});

test.each([
  'esdb://',
  'esdb://a:2113,',
  'esdb://a:2113,,b',
  'esdb://a:0',
  'esdb://a:70000',
  'esdb://a:b:c',
  'esdb://hunter2@a',
  'esdb:a',
])('%s is no address', (address) => {
  expect(hostsIn(address)).toBeUndefined();
});

test.each([
  ['esdb://a:2113,b:2113,c?tls=false', 'b:2113', 'esdb://a:2113,c?tls=false'],
  ['esdb://u:p@a,b', 'a:2113', 'esdb://u:p@b'],
  ['esdb://a:2113,b:2113', 'c:2113', 'esdb://a:2113,b:2113'],
  ['esdb://a:2113', 'a:2113', 'esdb://a:2113'],
  ['esdb://a:2113,b:2113', undefined, 'esdb://a:2113,b:2113'],
])('%s without %s is %s', (address, host, rest) => {
  expect(withoutHost(address, host)).toBe(rest);
});
