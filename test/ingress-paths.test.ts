import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { OPERATIONS } from './engines/operations.ts';

/** The locations of deploy/nginx.conf that are looked for by a regex, in their order; the first that fits counts, and `query` has the rest. */
const LOCATIONS = [...readFileSync('deploy/nginx.conf', 'utf8').matchAll(/location ~\* (\S+) \{\n((?: {6}.*\n)+)/g)].map(
  ([, pattern = '', body = '']) => ({ pattern: new RegExp(pattern, 'i'), role: /set \$role (\S+);/.exec(body)?.[1] ?? 'query', body }),
);
const locationOf = (path: string) => LOCATIONS.find(({ pattern }) => pattern.test(path));

const roleFor = (method: string, path: string): string => {
  const role = locationOf(path)?.role ?? 'query';
  return role.startsWith('$role_of') ? (method === 'GET' ? 'query' : 'command') : role;
};

test.each(Object.entries(OPERATIONS))('the ingress leads %s to the role that serves it, also under /api', (_, { method, path, role }) => {
  const asked = path.replaceAll(/\{\w+\}/g, '7');
  expect([roleFor(method, asked), roleFor(method, `/api${asked}`)]).toEqual([role, role]);
});

const uploads = Object.entries(OPERATIONS).filter(([, { body = {} }]) => 'image/png' in body);
test.each(uploads)('the ingress does not keep back the bytes of %s', (_, { path }) => {
  expect(locationOf(path.replaceAll(/\{\w+\}/g, '7'))?.body).toContain('proxy_request_buffering off;');
});
