import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { helpdesk } from '../examples/helpdesk/domain/domain.ts';
import { records as treatments } from '../examples/records/domain/domain.ts';
import { comparedFields } from '../testing/describe-domain/compared-fields.ts';
import { situationsOf } from '../testing/describe-domain/situations.ts';
import { records } from './toy/records.ts';
import { spendingDomain } from './toy/spending.ts';

test('a field that a condition of a right or of a command compares is compared, others are not', () => {
  expect([...comparedFields(publishing)]).toContain('article.status');
  const spending = comparedFields(spendingDomain);
  expect([...spending]).toContain('request.status');
  expect([...spending]).not.toContain('request.category');
});

test('situations that differ only in a choice that no condition compares are alike', () => {
  const { situations } = situationsOf(spendingDomain, {});
  const alike = (name: string) => situations.find((each) => each.name === name)?.alike;
  const draft = alike('request meals draft of employee 1');
  expect(draft).toBeDefined();
  expect(alike('request travel draft of employee 1')).toBe(draft);
  expect(alike('request meals submitted of employee 1')).not.toBe(draft);
  expect(alike('request meals draft of approver 1')).not.toBe(draft);
});

test('a command that needs another aggregate of the same kind is reached', () =>
  expect(situationsOf(helpdesk, {}).unreached).toEqual([]));

test('conditions beyond states, holds, their release, and an end that only retention refuses are reached', () => {
  const { situations, unreached } = situationsOf(treatments, {});
  expect(unreached).toEqual([]);
  const diagnosed = situations.filter(({ name }) => /^treatment open of patient 1 \(.*diagnosed/.test(name));
  expect(diagnosed.map(({ steps }) => steps.map(({ command }) => command.name))).toContainEqual([
    'admit',
    'diagnose',
  ]);
});

test('a command that ends its target is reached with one that is under no hold', () => {
  const { situations, unreached } = situationsOf(records, {});
  expect(unreached).toEqual([]);
  expect(situations.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['purge given', 'purge done', 'record open with holds of clerk 1']),
  );
});
