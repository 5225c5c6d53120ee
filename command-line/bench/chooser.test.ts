import { expect, test } from 'vitest';
import { chooserOf } from './chooser.ts';
import type { Mix, Part, Planned } from './mix.ts';

const mixOf = (planned: readonly Planned[], weights: Partial<Mix['weights']>): Mix => ({
  requests: Map.groupBy(planned, ({ part }) => part),
  weights: { read: 0, list: 0, graphql: 0, command: 0, ...weights },
});
const get = (part: Part, path: string): Planned => ({ part, method: 'GET', path });
const write: Planned = { part: 'command', method: 'PUT', path: '/things/{n}', body: '{"name":"Test {n}"}' };

test('every round has each part as often as its weight says', () => {
  const next = chooserOf(
    mixOf([get('read', '/me'), get('list', '/users'), write], { read: 3, list: 2, command: 1 }),
  );
  for (let round = 0; round < 20; round += 1) {
    const parts = Array.from({ length: 6 }, () => next().part);
    expect(parts.toSorted()).toEqual(['command', 'list', 'list', 'read', 'read', 'read']);
  }
});

test('a part with weight 0 is not sent', () => {
  const next = chooserOf(mixOf([get('read', '/me'), get('list', '/users')], { read: 1 }));
  expect(Array.from({ length: 20 }, () => next().part)).toEqual(Array.from({ length: 20 }, () => 'read'));
});

test('the requests of a part alternate', () => {
  const next = chooserOf(mixOf([get('read', '/a'), get('read', '/b')], { read: 4 }));
  expect(Array.from({ length: 6 }, () => next().path)).toEqual(['/a', '/b', '/a', '/b', '/a', '/b']);
});

test('every write has another number, the same in its path and body', () => {
  const next = chooserOf(mixOf([write], { command: 1 }));
  const sent = Array.from({ length: 50 }, next);
  const numbers = sent.map(({ path }) => /^\/things\/(\d+)$/.exec(path)?.[1]);
  expect(new Set(numbers).size).toBe(50);
  expect(sent.map(({ body }) => body)).toEqual(numbers.map((number) => `{"name":"Test ${number}"}`));
});
