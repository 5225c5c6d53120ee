import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { TAMPERINGS } from '../test/tamperings/tamperings.ts';

const page = readFileSync(new URL('../docs/audit.md', import.meta.url), 'utf8');
const [, rest = ''] = page.split('### Tamperings');
const [section = ''] = rest.split(/^##/m);

test('the page names the tamperings that no verification finds, and no others', () => {
  const named = section
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| Tampering '))
    .map((line) => line.split('|')[1]?.trim());
  const unfound = TAMPERINGS.filter(({ verify }) => verify.length === 0).map(({ name }) => name);
  expect(named.toSorted()).toEqual(unfound.toSorted());
});

test('it says how many were tried', () => {
  expect(section).toContain(`in ${TAMPERINGS.length} ways`);
});

test('each has another name', () => {
  expect(new Set(TAMPERINGS.map(({ name }) => name)).size).toBe(TAMPERINGS.length);
});
