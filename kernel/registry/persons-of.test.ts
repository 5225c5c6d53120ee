import { expect, test } from 'vitest';
import { rulesOf } from '#kernel/decide/given.ts';
import { domain } from '#kernel/declare/domain.ts';
import { type Fields, line, list, ref } from '#kernel/declare/fields.ts';
import { definitionsOf } from '#kernel/events/definitions.ts';
import { care, remark, report, visit } from '../../test/toy/care.ts';
import { assemble } from '../assembly/assemble.ts';
import { StartRefused } from '../base/start-refused.ts';

const CLIENT = 1;
const { given } = rulesOf(care);
const asked = given(visit, ['asked', { reason: 'A fall', place: 'home', minutes: 20 }]);
const opened = given(report, ['opened', { summary: null }]);

test('every event of an aggregate names the person of its personal fields, if a path leads there', () => {
  given(report)
    .beside({ visit: asked.state })
    .when('open', { summary: 'All well' })
    .yields(['opened', { summary: 'All well' }]);
  expect(opened.state).toMatchObject({ fields: { visit: 8, visitClient: CLIENT } });
  opened
    .when('measure', { pulse: 60, remark: 'Calm' })
    .yields(['measured', { measureId: 1, pulse: 60, remark: 'Calm' }]);
  const sealed = definitionsOf(care).flatMap(({ type, personal }) =>
    personal ? [[type, personal.subject]] : [],
  );
  expect(Object.fromEntries(sealed)).toMatchObject({
    'visit.asked': 'clientId',
    'visit.needAdded': 'clientId',
    'report.opened': 'visitClientId',
    'report.measured': 'visitClientId',
    'remark.changed': 'reportVisitClientId',
    'letter.changed': 'aboutId',
  });
});

test('a path is followed over three references, and over ended aggregates', () => {
  const remarked = given(remark).beside({
    report: opened.state,
    visit: given(visit, ['asked', {}], 'cancelled').state,
  });
  remarked.when('make', { text: 'Sleeps badly' }).yields(['made', { text: 'Sleeps badly' }]);
});

test('a creation is refused if a target on the path never existed', () => {
  given(report).when('open', { summary: null }).refuses('visit_not_found');
  given(remark).beside({ report: opened.state }).when('make', { text: 'x' }).refuses('visit_not_found');
});

const base = domain({ name: 'tried', roles: ['clerk'] });
const { aggregate, user } = base;
const of = (
  kind: string,
  fields: Fields,
  { content, owner, changes }: { content: string; owner?: string; changes?: string },
) =>
  aggregate(
    kind as 'any',
    {
      ...(owner !== undefined && { owner }),
      fields,
      events: {
        made: { creates: content.split(' ') as never },
        ...(changes !== undefined && { changed: { changes: [changes] as never } }),
      },
      commands: {
        make: { emits: 'made' },
        ...(changes !== undefined && { change: { emits: 'changed' as never } }),
      },
      rights: { read: { anyone: true } },
    } as never,
  );

const desk = of('desk', { keeper: ref(user) }, { content: 'keeper', changes: 'keeper' });
const claim = of(
  'claim',
  { clerk: ref(user), desk: ref(desk), approvers: list({ who: ref(user) }, { max: 3 }) },
  { content: 'desk', owner: 'clerk' },
);
const note = (fields: Fields, path: string, changes?: string) =>
  of(
    'note',
    { ...fields, text: line(9).personal({ of: path }) },
    { content: `${Object.keys(fields).join(' ')} text`, ...(changes && { changes }) },
  );

test.each(
  Object.entries<() => unknown>({
    'note: personal fields belong to claim.desk, but desk of claim is not in all of its events: use its owner or its parent instead.':
      () => assemble(base, [desk, claim, note({ claim: ref(claim) }, 'claim.desk')] as never),
    'note: personal fields belong to claim.boss, but claim has no reference boss: use one of its references.':
      () => assemble(base, [desk, claim, note({ claim: ref(claim) }, 'claim.boss')] as never),
    'note: personal fields belong to claim.approvers.who, but approvers is a list, with several items: use references only.':
      () => assemble(base, [desk, claim, note({ claim: ref(claim) }, 'claim.approvers.who')] as never),
    'note: personal fields belong to desk.keeper, but keeper of desk can change, so the fields could later belong to another person: use references that only the creation sets.':
      () => assemble(base, [desk, claim, note({ desk: ref(desk) }, 'desk.keeper')] as never),
    'note: personal fields belong to claim.clerk, but claim of note may be null, so the fields could belong to nobody: make it required.':
      () => assemble(base, [desk, claim, note({ claim: ref(claim).optional() }, 'claim.clerk')] as never),
    'note: personal fields belong to claim.clerk.boss, but clerk is already a user: end the path there.':
      () => assemble(base, [desk, claim, note({ claim: ref(claim) }, 'claim.clerk.boss')] as never),
    'note: personal fields belong to claim.a.b.c.d.e, which is 6 references away: give it its own reference to the person, or use a path of at most 5.':
      () => assemble(base, [desk, claim, note({ claim: ref(claim) }, 'claim.a.b.c.d.e')] as never),
    'note: claimClerk is reserved for the person to whom claim.clerk leads: give the field another name.':
      () =>
        assemble(base, [
          desk,
          claim,
          note({ claim: ref(claim), claimClerk: line(9) }, 'claim.clerk'),
        ] as never),
  }),
)('refused: %s', (says, declare) => {
  expect(declare).toThrow(new StartRefused(says));
});

test('a first reference that can change is refused, because the data would change its person', () => {
  expect(() =>
    assemble(base, [desk, claim, note({ claim: ref(claim) }, 'claim.clerk', 'claim')] as never),
  ).toThrow('claim of note can change');
});

test('items and their aggregate belong to one person', () => {
  const fields = { claim: ref(claim), text: line(9).personal({ of: 'claim.clerk' }) };
  const linesOf = (path: string) =>
    of(
      'note',
      { ...fields, helper: ref(user), lines: list({ said: line(9).personal({ of: path }) }, { max: 3 }) },
      { content: 'claim helper text' },
    );
  expect(() => assemble(base, [desk, claim, linesOf('helper')] as never)).toThrow(
    'note: its personal fields belong to several persons',
  );
  expect(() => assemble(base, [desk, claim, linesOf('lines.who')] as never)).toThrow('lines is a list');
  expect(() => assemble(base, [desk, claim, linesOf('claim.clerk')] as never)).not.toThrow();
});
