import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, test } from 'vitest';
import { GROUPS } from '../command-line/commands.ts';
import { namedTestsIn, readPage, wrongTests } from './named-tests.ts';

const rows = readPage('docs/auditors.md')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (?:Rule|QLDB) \|/.test(line))
  .map((line) => {
    const cells = line.split(' |').map((cell) => cell.trim());
    const shownBy = cells.at(-2) ?? '';
    return {
      rule: cells[0]?.slice('| '.length) ?? '',
      answer: cells.find((cell) => /^(?:Yes|Part|No)$/.test(cell)),
      shownBy,
      commands: [...shownBy.matchAll(/`annals ([^`]+)`/g)].map(([, name]) => name),
      requests: [...shownBy.matchAll(/`((?:GET|POST) [^`]+)`/g)].map(([, request = '']) => request),
    };
  });

const { operations } = JSON.parse(readPage('domain/contract/operations.json')) as { operations: object };
/** With each id as `{id}`. */
const served = new Set(Object.keys(operations).map((each) => each.replaceAll(/\{\w+\}/g, '{id}')));

test('the page about the proof names tests that exist', () => {
  const [table = ''] = readPage('docs/audit.md').split('## The chain', 1);
  const named = namedTestsIn(table);
  expect(named.length).toBeGreaterThan(8);
  expect(wrongTests(named)).toEqual([]);
});

test('the rows of RFC 9700 name tests that exist', () => {
  const [, table = ''] = readPage('docs/security.md').split(/\n## (?:RFC 9700|Proofs)[^\n]*\n/);
  const named = namedTestsIn(table);
  expect(named.length).toBeGreaterThan(18);
  expect(wrongTests(named)).toEqual([]);
});

test('the threats name tests that exist, by the beginning of their files', () => {
  const [, table = ''] = readPage('docs/security.md').split(/\n## (?:What holds|RFC 9700)[^\n]*\n/);
  const named = table
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| Against'))
    .flatMap((line) => [...(line.split(' | ').at(-1) ?? '').matchAll(/`([\w-]+)\*?`/g)])
    .map(([, name = '']) => name);
  const files = globSync('*/{*,**/*}.test.ts', {
    cwd: new URL('..', import.meta.url).pathname,
    exclude: ['**/node_modules/**'],
  }).map((path) => basename(path));
  expect(named.length).toBeGreaterThan(60);
  expect(named.filter((name) => !files.some((file) => file.startsWith(name)))).toEqual([]);
});

test('the page has the rules, with each kind of answer', () => {
  expect(new Set(rows.map(({ answer }) => answer))).toEqual(new Set(['Yes', 'Part', 'No', undefined]));
  expect(rows.length).toBeGreaterThan(40);
});

describe.each(rows)('“$rule”', ({ answer, shownBy, commands, requests }) => {
  test('is shown by commands, requests and tests that exist', () => {
    if (answer !== 'No') expect(shownBy).not.toBe('');
    expect(commands.filter((name) => !GROUPS.some((group) => group.commands.has(name ?? '')))).toEqual([]);
    expect(requests.filter((request) => !served.has(request))).toEqual([]);
    expect(wrongTests(namedTestsIn(shownBy))).toEqual([]);
  });
});
