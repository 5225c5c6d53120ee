import { Router } from 'express';
import { expect, test } from 'vitest';
import { serveRoutes } from '../../test/serve.ts';
import { type CorsOrigins, cors } from './cors.ts';

const open = (origins: CorsOrigins) =>
  serveRoutes(
    cors(origins),
    Router().get('/x', (_request, response) => void response.set('ETag', '"1"').json({})),
  );

const APP = 'https://app.example';
const preflight = (url: string, origin: string) =>
  fetch(`${url}/x`, {
    method: 'OPTIONS',
    headers: {
      Origin: origin,
      'Access-Control-Request-Method': 'PATCH',
      'Access-Control-Request-Headers': 'authorization,dpop,if-match',
    },
  });

test.each<[CorsOrigins, string, string]>([
  ['any', 'https://anywhere.example', '*'],
  [new Set([APP]), APP, APP],
])('with %j a page of %s may call and read', async (origins, origin, allowed) => {
  await using server = await open(origins);
  const answer = await preflight(server.url, origin);
  expect(answer.status).toBe(204);
  expect(answer.headers.get('access-control-allow-origin')).toBe(allowed);
  expect(answer.headers.get('access-control-allow-methods')).toContain('PATCH');
  expect(answer.headers.get('access-control-allow-headers')).toBe('authorization,dpop,if-match');
  const read = await fetch(`${server.url}/x`, { headers: { Origin: origin } });
  expect(read.headers.get('access-control-allow-origin')).toBe(allowed);
  for (const header of [
    'ETag',
    'Location',
    'Link',
    'Consistency-Token',
    'Preference-Applied',
    'RateLimit',
    'WWW-Authenticate',
    'DPoP-Nonce',
  ]) {
    expect(read.headers.get('access-control-expose-headers')).toContain(header);
  }
  // Only the pages of the authorization server use cookies.
  expect(read.headers.get('access-control-allow-credentials')).toBeNull();
});

test('an error is readable as well', async () => {
  await using server = await open('any');
  const answer = await fetch(`${server.url}/nowhere`, { headers: { Origin: APP } });
  expect(answer.status).toBe(404);
  expect(answer.headers.get('access-control-allow-origin')).toBe('*');
});

test.each<[CorsOrigins, string]>([
  [new Set(), APP],
  [new Set([APP]), 'https://app.example.evil.example'],
  [new Set([APP]), 'http://app.example'],
  [new Set([APP]), 'null'],
])('with %j a page of %s may not', async (origins, origin) => {
  await using server = await open(origins);
  const answer = await preflight(server.url, origin);
  expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  const read = await fetch(`${server.url}/x`, { headers: { Origin: origin } });
  expect(read.headers.get('access-control-allow-origin')).toBeNull();
  expect(read.headers.get('vary')).toContain('Origin');
});

test('a request that does not come from a web page gets no CORS headers', async () => {
  await using server = await open('any');
  expect((await fetch(`${server.url}/x`)).headers.get('access-control-allow-origin')).toBeNull();
});
