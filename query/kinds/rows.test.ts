import { expect, test } from 'vitest';
import { assemble } from '#kernel/assembly/assemble.ts';
import { snake } from '#kernel/base/names.ts';
import { resolve } from '#kernel/conditions/expression.ts';
import { holdsOf } from '#kernel/conditions/holds.ts';
import { domain } from '#kernel/declare/domain.ts';
import { flag, line, ref, states } from '#kernel/declare/fields.ts';
import { demandSource, sourcesOf } from '../rows/sources.ts';
import { resourceIn, withReferences } from './rows.ts';
import { selectionOfItem } from './selection.ts';

const base = domain({ name: 'office', roles: ['employee'] });
const { aggregate } = base;
const team = aggregate('team', {
  fields: { name: line(9), blocked: flag().default(false), status: states('on', 'off') },
  events: { founded: { creates: ['name', 'blocked'] } },
  commands: { found: { emits: 'founded' } },
  rights: { read: { anyone: true } },
});
const condition = { team: 'on', payer: { blocked: { not: true } } } as const;
const claim = aggregate('claim', {
  fields: { team: ref(team), payer: ref(team) },
  events: { made: { creates: ['team', 'payer'] } },
  commands: { make: { emits: 'made' } },
  rights: { read: { employee: condition } },
});
const office = assemble(base, [team, claim]);

test('a right gets all facts of a target that two references share, through either of them', () => {
  const source = demandSource(sourcesOf(office), 'claim');
  const mayRead = (blocked: boolean) => {
    const row = {
      id: 1,
      team_id: 2,
      payer_id: 2,
      'team.id': 2,
      'team.status': 'on',
      'payer.id': 2,
      'payer.blocked': blocked,
    };
    const { fields = {}, find = () => undefined } = resourceIn(source, row);
    return holdsOf(resolve(office, source.kind, condition))(fields, 1, find);
  };
  expect([mayRead(true), mayRead(false)]).toEqual([false, true]);
});

const long = 'theTeamThatSupervisesTheOpenWork';
const watched = domain({ name: 'watched', roles: ['employee'] });
const group = watched.aggregate('group', {
  fields: { [`${long}Groups`]: flag().default(false), head: ref(watched.user) },
  events: { founded: { creates: ['head'] } },
  commands: { found: { emits: 'founded' } },
  rights: { read: { anyone: true } },
});
const paper = watched.aggregate('paper', {
  fields: { [long]: ref(group) },
  events: { made: { creates: [long] } },
  commands: { make: { emits: 'made' } },
  rights: { read: { employee: { [long]: { [`${long}Groups`]: true } } } },
} as never);
const papers = assemble(watched, [group, paper] as never);

test('a joined name that PostgreSQL would truncate is shortened alike in statements and in rows', async () => {
  const source = demandSource(sourcesOf(papers), 'paper');
  const names = [...selectionOfItem(source).columns.matchAll(/ as "([^"]+)"/g)].map(([, name = '']) => name);
  expect(names.length).toBeGreaterThan(1);
  expect(names.filter((name) => name.length > 63)).toEqual([]);
  const found = { id: 2, [snake(`${long}Groups`)]: true };
  const row = await withReferences(source, { id: 1, [`${snake(long)}_id`]: 2 }, async () => found);
  expect(Object.keys(row ?? {})).toEqual(expect.arrayContaining(names));
  const { find = () => undefined } = resourceIn(source, row ?? {});
  expect(find('group', 2)).toMatchObject({ [`${long}Groups`]: true });
});
