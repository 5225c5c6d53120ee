import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { resourcesOf } from '#shared/rest/operations.ts';
import { nginxFor } from '../command-line/domain/nginx.ts';
import { publishingWithCollections } from './toy/collections.ts';
import { expenses } from './toy/expenses.ts';
import { helpdesk } from './toy/helpdesk.ts';
import { lending } from './toy/lending.ts';

/**
 * The locations that are looked for by a regex, in their order; the first that fits counts, and `query` has
 * the rest.
 */
const locationsIn = (conf: string) => {
  const locations = [...conf.matchAll(/location ~\* (\S+) \{\n((?: {6}.*\n)+)/g)].map(
    ([, pattern = '', body = '']) => ({
      pattern: new RegExp(pattern, 'i'),
      role: /set \$role (\S+);/.exec(body)?.[1] ?? 'query',
      body,
    }),
  );
  return (path: string) => locations.find(({ pattern }) => pattern.test(path));
};

test('what ships has the paths of the domain that ships', () => {
  expect(nginxFor(publishing)).toBe(readFileSync('deploy/nginx.conf', 'utf8'));
});

describe.each([publishing, publishingWithCollections, expenses, helpdesk, lending] as readonly Domain[])(
  'the ingress of $name',
  (domain) => {
    const locationOf = locationsIn(nginxFor(domain));
    const roleFor = (method: string, path: string): string => {
      const role = locationOf(path)?.role ?? 'query';
      return role.startsWith('$role_of') ? (method === 'GET' ? 'query' : 'command') : role;
    };
    const operations = resourcesOf(domain).map((operation) => ({
      ...operation,
      asked: operation.path.replaceAll(/\{\w+\}/g, '7'),
    }));

    test.each(operations)(
      'leads $method $path to the role that serves it, also under /api',
      ({ method, asked, role }) => {
        expect([roleFor(method, asked), roleFor(method, `/api${asked}`)]).toEqual([role, role]);
      },
    );

    test('keeps back the bytes of pictures, and of nothing else', () => {
      for (const { asked, body = {} } of operations)
        expect(locationOf(asked)?.body.includes('proxy_request_buffering off;') === true, asked).toBe(
          operations.some((other) => other.asked === asked && 'image/png' in (other.body ?? {})) ||
            'image/png' in body,
        );
    });
  },
);
