import { expect, test } from 'vitest';
import { teams } from '../../test/toy/teams.ts';
import { always, and, at, type Expression, negate, never, or } from './expression.ts';
import { changed, childrenOf, fold, kindAfter, questionsIn } from './fold.ts';

const open: Expression = { op: 'is', field: 'status', value: 'open' };
const mine: Expression = { op: 'some', field: 'members', of: { op: 'caller', field: 'person' } };
const behind = at('team', 'team', and(mine, negate(open)));
const whole = or(and(open, negate(behind)), { op: 'caller', field: 'author' });

test('every question is found once, with the way to it, before those behind it', () => {
  expect(
    questionsIn(whole).map(({ asked, way }) => [...way.map(({ field }) => field), asked.field].join('.')),
  ).toEqual(['status', 'team', 'team.members', 'team.members.person', 'team.status', 'author']);
  expect(childrenOf(whole).map(({ field }) => field)).toEqual(['status', 'team', 'author']);
});

test('a condition with its own questions is the same condition', () => {
  expect(changed(whole, (asked) => asked)).toEqual(whole);
  expect(changed(whole, () => always)).toBe(always);
  expect(changed(behind, () => never)).toBe(never);
});

test('a question knows whether its negation is asked', () => {
  const found: (readonly [string, boolean])[] = [];
  changed(negate(and(open, negate(mine))), (asked, isNegated) => {
    found.push([asked.field, isNegated]);
    return asked;
  });
  expect(found).toEqual([
    ['status', true],
    ['members', false],
  ]);
});

test('a fold gives every way of combining conditions a meaning', () =>
  expect(
    fold<string>(whole, {
      constant: String,
      all: (parts) => `(${parts.join(' & ')})`,
      any: (parts) => `(${parts.join(' | ')})`,
      not: (part) => `!${part}`,
      question: ({ field }) => field,
    }),
  ).toBe('((status & !team) | author)'));

test('the last reference of a way leads to its aggregate, also through a list', () => {
  const { claim, team } = teams.kinds;
  if (claim === undefined || team === undefined) throw new Error('the domain of teams has changed');
  const [, , last] = questionsIn(behind);
  expect(kindAfter(teams, claim, last?.way ?? [])).toBe(team);
  expect(kindAfter(teams, claim, [])).toBe(claim);
});
