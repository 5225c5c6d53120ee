// Over 200 lines, because it is one list: every rule about the sources, with examples that break it.
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { findViolations } from './boundaries.ts';
import { findLengthFaults } from './file-length.ts';
import { readSources } from './published-sources.ts';
import { findRealTime } from './real-time.ts';
import { findRoomFaults, withPicture } from './rooms.ts';

const root = join(import.meta.dirname, '..');

const check = (...files: readonly (readonly [path: string, source: string])[]): string[] =>
  findViolations(new Map(files));

test('no file breaks the import rules', () => {
  const sources = readSources();
  expect(sources.size).toBeGreaterThan(50);
  expect(findViolations(sources)).toEqual([]);
});

const architecture = readFileSync(join(root, 'docs/architecture.md'), 'utf8');

test('docs/architecture.md has the picture of the imports: npm run reference draws it', () => {
  expect(architecture).toBe(withPicture(architecture, readSources()));
});

/** Left by tests, npm and builds beside the rooms. */
const NO_ROOMS = ['node_modules', 'dist', 'test-results', 'coverage', 'secrets'];

test('docs/architecture.md has one line for each top folder', () => {
  const folders = readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && !NO_ROOMS.includes(entry.name))
    .map(({ name }) => name);
  expect(folders.length).toBeGreaterThan(20);
  expect(findRoomFaults(architecture, folders)).toEqual([]);
});

test('each floor of the picture stands on those below, and a circle shares one', () => {
  const sources = new Map([
    ['top/x.ts', `import { y } from '../left/y.ts';\nimport type { W } from '#shared/w.ts';`],
    ['left/y.ts', `await import('../right/z.ts');`],
    ['right/z.ts', `import type { Y } from '../left/y.ts';\nimport '#shared/w.ts';`],
    ['right/z.test.ts', `import { x } from '../top/x.ts';`],
    ['shared/w.ts', `import '../main.ts';`],
    ['main.ts', `import './top/x.ts';`],
  ]);
  const picture = withPicture('```text\n┌\n```', sources).split('\n').slice(2, -2);
  expect(
    picture.map((line) =>
      line
        .replaceAll(/[│ ]+/g, ' ')
        .replace(/^[├┼┤─]+$/, '-')
        .trim(),
    ),
  ).toEqual(['top left, shared', '-', 'left right', 'right left, shared', '-', 'shared']);
  expect(() => withPicture('', sources)).toThrow('has no block');
});

test.each([
  ['a missing line', '', /^docs\/architecture\.md has 0 lines of query\/: write one/],
  ['a second line', '| `query/` | a |\n| `query/` | b |', /has 2 lines of query\//],
  ['a line of a folder that is gone', '| `query/` | a |\n| `old/` | b |', /old\/, which does not exist/],
  ['a long line', `| \`query/\` | ${'a '.repeat(100)} |`, /needs a shorter line of query\//],
])('%s is refused in the list of rooms', (_, page, fault) => {
  expect(findRoomFaults(page, ['query'])).toEqual([expect.stringMatching(fault)]);
});

test.each([
  ['another role', 'command/send.ts', `import { x } from '../query/x.ts';`],
  ['shared by its path', 'command/send.ts', `import { x } from '../shared/x.ts';`],
  ['a role from shared', 'shared/x.ts', `export { x } from '../command/x.ts';`],
  ['a role from shared, on several lines', 'shared/x.ts', `import {\n  x,\n  y,\n} from '../command/x.ts';`],
  ['a role from shared, later', 'shared/x.ts', `const x = await import('../command/x.ts');`],
  ['a role for its side effects', 'shared/x.ts', `import '../command/x.ts';`],
  ['a role from the proof', 'proof/x.ts', `import { x } from '../command/x.ts';`],
  ['the proof from within a role', 'projector/service.ts', `import { x } from '../proof/x.ts';`],
  ['the proof where a role is started', 'projector/role.ts', `import { x } from '../proof/service.ts';`],
  ['an adapter from the proof', 'proof/x.ts', `import type { X } from '#adapters/redis/x.ts';`],
  ['the proof from the role that serves it', 'query/service.ts', `import { x } from '../proof/x.ts';`],
  ['the proof from shared', 'shared/role.ts', `import { x } from '../proof/x.ts';`],
  ['the domain from a role', 'query/x.ts', `import { x } from '#domain/x.ts';`],
  ['the domain where a role begins', 'query/main.ts', `import { x } from '#domain/x.ts';`],
  ['all that is started from within a role', 'query/x.ts', `await import('../main.ts');`],
  ['all that is started from where a role begins', 'query/main.ts', `await import('../main.ts');`],
  ['the served domain from within a role', 'query/x.ts', `import { x } from '../served.ts';`],
  ['the domain from the kernel', 'kernel/x.ts', `import { x } from '#domain/x.ts';`],
  ['shared from the kernel', 'kernel/x.ts', `import { x } from '#shared/x.ts';`],
  ['a type of shared from the kernel', 'kernel/x.ts', `import type { X } from '#shared/x.ts';`],
  ['the edge from shared', 'shared/x.ts', `import type { X } from '#edge/x.ts';`],
  ['the process from shared', 'shared/x.ts', `import { x } from '#process/x.ts';`],
  ['the process from the edge', 'edge/x.ts', `import type { X } from '#process/x.ts';`],
  ['an adapter from its port', 'shared/blobs/blobs.ts', `await import('#adapters/s3/s3-blobs.ts');`],
  ['an adapter from the edge', 'edge/x.ts', `import type { X } from '#adapters/redis/x.ts';`],
  ['an adapter from a role', 'query/x.ts', `import { x } from '#adapters/s3/x.ts';`],
  ['the process from an adapter', 'adapters/x.ts', `import type { X } from '#process/x.ts';`],
  ['the site from the role that it describes', 'query/x.ts', `import { x } from '../site/x.ts';`],
  ['another role from the site', 'site/x.ts', `import { x } from '../command/x.ts';`],
  ['a role from the console', 'console/x.ts', `import { x } from '../query/x.ts';`],
  ['a part from the core of its role', 'query/service.ts', `import { x } from './graphql/x.ts';`],
  ['a part from another one, later', 'site/site.ts', `import { x } from '../query/graphql/x.ts';`],
  ['the package of a part from the core', 'query/service.ts', `import { parse } from 'graphql';`],
  ['the parts from a role', 'query/role.ts', `import { x } from '../parts.ts';`],
  ['the whole module node:http', 'edge/http/x.ts', `import { createServer } from 'node:http';`],
  ['I/O from a declaration', 'domain/x.ts', `import net from 'node:net';`],
  ['the tests', 'shared/x.ts', `import { x } from '../test/x.ts';`],
  ['the tests, from the command line', 'command-line/x.ts', `import { x } from '../test/x.ts';`],
  [
    'the tests, from what authors test with',
    'testing/describe-domain/x.ts',
    `import { x } from '../../test/engines/x.ts';`,
  ],
  ['the tests, from the package', 'package/testing/x.ts', `import { x } from '../../test/x.ts';`],
  ['a test runner, from what authors test with', 'testing/x.ts', `import { expect } from 'vitest';`],
  ['the domain, from what authors test with', 'testing/x.ts', `import { x } from '#domain/x.ts';`],
  ['a driver in a role', 'command/send.ts', `import pg from 'pg';`],
  ['a type of a driver in a role', 'command/send.ts', `import type pg from 'pg';`],
  ['a part of a driver', 'shared/http/x.ts', `import { x } from '@eventstore/db-client/generated/x.js';`],
  ['the driver of another engine', 'adapters/eventstoredb/x.ts', `import pg from 'pg';`],
  ['I/O from an event', 'shared/events/x.ts', `import { readFile } from 'node:fs/promises';`],
  ['I/O from a command', 'shared/commands/x.ts', `import express from 'express';`],
  [
    'I/O from a decider',
    'command/articles/x.ts',
    `import net from 'node:net';\nexport const x: Decider<A, B, C> = {};`,
  ],
])('importing %s is found', (_, path, source) => {
  expect(check([path, source])).toHaveLength(1);
});

test('benches find their imports, in a package of their own', () => {
  const paths = globSync('bench/**/*.ts', { cwd: root, exclude: (path) => path === 'node_modules' });
  expect(paths.length).toBeGreaterThan(10);
  for (const path of paths)
    for (const [, specifier = ''] of readFileSync(join(root, path), 'utf8').matchAll(/from '([.#][^']+)'/g))
      expect(existsSync(join(root, dirname(path), specifier)), `${path} imports ${specifier}`).toBe(true);
});

test('I/O that a pure file reaches through another is found', () => {
  const violations = check(
    ['shared/events/x.ts', `import { y } from '#shared/y.ts';`],
    ['shared/y.ts', `import net from 'node:net';`],
  );
  expect(violations).toEqual([
    'shared/events/x.ts reaches node:net by shared/y.ts: events, commands, and deciders do no I/O.',
  ]);
});

test('no declaration reaches the demo', () => {
  const sources = [
    ['domain/x.ts', `import { y } from './demo/y.ts';`] as const,
    ['domain/demo/y.ts', `import net from 'node:net';`] as const,
  ];
  expect(check(...sources)).toEqual([
    'domain/x.ts reaches node:net by domain/demo/y.ts: events, commands, and deciders do no I/O.',
  ]);
});

test.each([
  ['values', `import { y } from './y.ts';`],
  ['types', `import type { Y } from './y.ts';`],
  ['types beside values', `import { type Y, z } from './z.ts';`],
  ['the type of a module', `type Y = typeof import('./y.ts');`],
  ['types that are passed on', `export type { Y } from './y.ts';`],
])('a cycle of %s is found', (_, source) => {
  const others = ['y', 'z'].map(
    (name) =>
      [
        `query/${name}.ts`,
        `import type { X } from '#shared/w.ts';\nimport type { X } from './x.ts';`,
      ] as const,
  );
  const [circle, ...more] = check(['query/x.ts', source], ...others);
  expect(circle).toMatch(
    /^query\/x\.ts imports query\/[yz]\.ts imports query\/x\.ts: files import each other in no circle/,
  );
  expect(more).toEqual([]);
});

test('a cycle through a third file is found once', () => {
  const files = ['x', 'y', 'z'].map(
    (name, at) => [`shared/${name}.ts`, `import type { T } from '#shared/${'yzx'[at]}.ts';`] as const,
  );
  expect(check(...files)).toEqual([
    'shared/x.ts imports shared/y.ts imports shared/z.ts imports shared/x.ts: files import each other in no circle, not even for types.',
  ]);
});

test.each([
  [
    'itself and shared',
    'command/send.ts',
    `import { a } from './a.ts';\nimport { b } from '#shared/b.ts';\nimport { z } from 'zod';`,
  ],
  [
    'roles, in what authors test with',
    'testing/describe-domain/x.ts',
    `import { x } from '../../query/sources.ts';`,
  ],
  ['the test runner where one is chosen', 'package/testing/runner.ts', `const x = await import('vitest');`],
  ['the types of node:http', 'edge/http/x.ts', `import type { Server } from 'node:http';`],
  ['a driver in its adapter', 'shared/database/pool.ts', `import pg from 'pg';`],
  ['I/O in the demo of the domain', 'domain/demo/x.ts', `import net from 'node:net';`],
  [
    'types of what does I/O, in a pure file',
    'shared/events/x.ts',
    `import type { Pool } from '#shared/database/pool.ts';`,
  ],
  ['the interface that serves the proof', 'proof/x.ts', `import { x } from '../query/x.ts';`],
  ['the role that runs the proof', 'proof/x.ts', `import type { X } from '../projector/x.ts';`],
  ['a part by its own pages', 'site/graphql/x.ts', `import { x } from '../../query/graphql/x.ts';`],
  ['the interface that the site describes', 'site/x.ts', `import { x } from '../query/x.ts';`],
  ['the served domain where a role begins', 'projector/main.ts', `import { x } from '../served.ts';`],
  ['anything in a test', 'shared/x.test.ts', `import { x } from '../command/x.ts';\nimport pg from 'pg';`],
])('importing %s is allowed', (_, path, source) => {
  expect(check([path, source])).toEqual([]);
});

test('only code with a reason reads the real time', () => {
  expect(findRealTime(readSources())).toEqual([]);
});

test.each([
  ['a timer', `const timer = setTimeout(stop, 1_000);`],
  ['an interval', `setInterval(look, 1_000).unref();`],
  ['a sleep', `import { setTimeout as delay } from 'node:timers/promises';`],
  ['the date', `const at = Date.now();`],
  ['a duration', `const beganMs = performance.now();`],
  ['the present date', `const at = new Date().toISOString();`],
  ['the adapter', `import { REAL_TIME } from '#shared/clock/real-time.ts';`],
  ['the adapter, by its path', `import { realTimeAhead } from '../clock/real-time.ts';`],
])('%s of the real time is found', (_, source) => {
  expect(findRealTime(new Map([['query/x.ts', source]]), {})).toHaveLength(1);
});

test.each([
  ['a turn of the event loop', `import { setImmediate as nextTurn } from 'node:timers/promises';`],
  ['the timeout of a socket', `socket.setTimeout(1_000);`],
  ['a comment', `// Date.now() may go back.`],
  ['a given date', `const at = new Date(clock.nowMs());`],
])('%s is no real time', (_, source) => {
  expect(findRealTime(new Map([['query/x.ts', source]]), {})).toEqual([]);
});

test('an exception that no file needs is found, and one for fewer files', () => {
  const sources = new Map([['query/x.ts', 'Date.now();']]);
  const found = (files: number, more = {}) =>
    findRealTime(sources, { 'query/': { files, why: '' }, ...more }).length;
  expect([found(1), found(2), found(1, { 'auth/': { files: 0, why: '' } })]).toEqual([0, 1, 1]);
});

test('every file over 200 lines gives its reason, and no shorter file does', () => {
  const exclude = ['**/node_modules/**', 'dist/**', '**/.data/**'];
  const paths = globSync('**/*.{ts,tsx}', { cwd: root, exclude });
  expect(paths.length).toBeGreaterThan(2_000);
  expect(
    findLengthFaults(new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]))),
  ).toEqual([]);
});

const REASON = '// Over 200 lines, because it is one list.\n';
const lines = (count: number): string => 'x();\n'.repeat(count);

test.each([
  ['one without a reason', lines(201)],
  ['one whose reason comes late', `${lines(2)}${REASON}${lines(208)}`],
  ['one without a reason in its comment', `// Over 200 lines.\n${lines(200)}`],
])('a long file is refused: %s', (_, source) => {
  expect(findLengthFaults(new Map([['query/x.ts', source]]))).toEqual([
    expect.stringMatching(
      /^query\/x\.ts has 2\d\d lines: shorten it, split it by subject, or begin it with “\/\/ Over 200 lines, because/,
    ),
  ]);
});

test('a short file with the reason of a long one is refused', () => {
  const faults = findLengthFaults(new Map([['query/x.ts', `${REASON}${lines(199)}`]]));
  expect(faults).toEqual(['query/x.ts has 200 lines: remove its comment “Over 200 lines”.']);
});

test.each([
  ['a file of 200 lines', lines(200)],
  ['a longer one with its reason', `${REASON}${lines(200)}`],
  ['a longer one with another comment before it', `// Takes minutes.\n${REASON}${lines(200)}`],
])('%s is allowed', (_, source) => {
  expect(findLengthFaults(new Map([['query/x.ts', source]]))).toEqual([]);
});
