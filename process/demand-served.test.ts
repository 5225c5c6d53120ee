import { Router } from 'express';
import { expect, test } from 'vitest';
import { demandDomain, demandServed } from './demand-served.ts';

const graphql = () => ({ name: 'graphql', adds: {} }) as const;
const domain = async () => ({}) as never;

test.each<readonly [string, object, string]>([
  ['a part that is not called', { domain, parts: [graphql] }, '`parts` of start is a list of parts'],
  ['the name of a part', { domain, parts: ['graphql'] }, '`parts` of start is a list of parts'],
  ['a part outside of a list', { domain, parts: graphql() }, '`parts` of start is a list of parts'],
  ['the console of JavaScript', { domain, parts: [globalThis.console] }, 'They are imported from annals.'],
  ['a part twice', { domain, parts: [graphql(), graphql()] }, 'graphql() is in `parts` of start twice'],
  ['a domain that is no function', { domain: {} }, '`domain` of start is a function that loads it'],
  ['a router', { domain, routes: Router() }, '`routes` of start is a function that returns a router'],
  ['routes that are no function', { domain, routes: {} }, '`routes` of start is a function'],
  ['a scanner that is no function', { domain, scan: 'clamd' }, '`scan` of start is a function'],
])('start refuses %s in a sentence', (_, served, sentence) => {
  expect(() => demandServed(served as never)).toThrow(sentence);
});

test('start accepts a domain alone, and with parts, routes and a scanner', () => {
  demandServed({ domain });
  demandServed({ domain, parts: [graphql()], routes: () => Router(), scan: async () => undefined });
});

test('start refuses a domain that is missing in its file', () => {
  expect(() => demandDomain(undefined)).toThrow('`domain` of start loads no domain');
});
