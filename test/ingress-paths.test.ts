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
import { receipts } from './toy/receipts.ts';

/** The regex locations in order; the first match wins, and `query` gets all other paths. */
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

test('the shipped configuration has the paths of the shipped domain', () => {
  expect(nginxFor(publishing)).toBe(readFileSync('deploy/nginx.conf', 'utf8'));
});

test('the ingress accepts the largest file of a domain, and ten of them in a request of GraphQL', () => {
  const sizes = [...nginxFor(receipts).matchAll(/client_max_body_size (\d+)m;/g)].map(([, size]) => size);
  // A contract has at most 20,000,000 bytes.
  expect(sizes).toEqual(['4', '26', '210']);
});

test('the router of cells sends home what the ingress of a cell sends to auth', () => {
  const authPath = /location ~\* (\S+) \{\n +(?:set \$role auth;|proxy_pass http:\/\/\$\{ROUTER_HOME\};)/;
  const pathsIn = (file: string) => authPath.exec(readFileSync(file, 'utf8'))?.[1];
  expect(pathsIn('deploy/nginx.conf')).toContain('token');
  expect(pathsIn('deploy/cells.conf')).toBe(pathsIn('deploy/nginx.conf'));
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
      'routes $method $path to the role that serves it, also under /api',
      ({ method, asked, role }) => {
        expect([roleFor(method, asked), roleFor(method, `/api${asked}`)]).toEqual([role, role]);
      },
    );

    test('does not buffer uploads, and only those', () => {
      for (const { asked, body = {} } of operations)
        expect(locationOf(asked)?.body.includes('proxy_request_buffering off;') === true, asked).toBe(
          operations.some((other) => other.asked === asked && 'image/png' in (other.body ?? {})) ||
            'image/png' in body,
        );
    });
  },
);
