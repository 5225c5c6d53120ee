import { expect, test } from 'vitest';
import { resolve } from '#kernel/conditions/expression.ts';
import { holdsOf } from '#kernel/conditions/holds.ts';
import { domain } from '#kernel/declare/domain.ts';
import { flag, line, ref, states } from '#kernel/declare/fields.ts';
import { assemble } from '#kernel/registry/assemble.ts';
import { demandSource, sourcesOf } from '../sources.ts';
import { resourceIn } from './rows.ts';

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
