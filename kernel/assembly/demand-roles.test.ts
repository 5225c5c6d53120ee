import { expect, test } from 'vitest';
import { StartRefused } from '../base/start-refused.ts';
import { rightOf } from '../conditions/rights.ts';
import { expressionWords } from '../conditions/words.ts';
import { domain } from '../declare/domain.ts';
import { line, ref } from '../declare/fields.ts';
import { WORDS_OF_RIGHTS } from '../declare/words.ts';
import type { Kind } from '../registry/registry.ts';
import { assemble } from './assemble.ts';

test('an addition to users cannot replace a field of every user', () => {
  for (const name of ['name', 'email', 'role'])
    expect(() =>
      domain({ name: 'tried', roles: ['clerk'], user: { fields: { [name]: line(9).optional() } } }),
    ).toThrow(
      new StartRefused(`user: the field ${name} already exists for every user: give yours another name.`),
    );
  const fieldRights = { readPrivate: { reads: ['email'], anyone: true } } as never;
  expect(() => domain({ name: 'tried', roles: ['clerk'], user: { fields: {}, fieldRights } })).toThrow(
    new StartRefused('user: the right readPrivate already exists for every user: give yours another name.'),
  );
});

test.each(['zz', 'admin', 'off'])('%s is refused as the role of sign-up', (signUp) => {
  expect(() =>
    assemble(domain({ name: 'tried', roles: ['clerk', 'chief'], signUp: signUp as 'clerk' }), []),
  ).toThrow(
    new StartRefused(
      `tried: \`signUp\` is ${signUp}, which is not one of its roles: use one of clerk, chief.`,
    ),
  );
});

test.each([...WORDS_OF_RIGHTS])('the reserved word %s is no role', (word) => {
  expect(() => assemble(domain({ name: 'tried', roles: ['clerk', word] }), [])).toThrow(
    new StartRefused(`the role ${word} is a keyword of rights: give it another name.`),
  );
});

test.each([
  [['off'], 'the role off is reserved'],
  [['anonymous'], 'the role anonymous is reserved'],
  [['clerk', 'admin'], 'the role admin is reserved'],
  [['team lead'], 'user: the word team lead does not match'],
])('the roles %j are refused', (roles, why) => {
  expect(() => assemble(domain({ name: 'tried', roles: roles as [string] }), [])).toThrow(why);
});

test.each([
  [{ rights: { read: { anyone: true, boss: true } } }, 'note: the right read names boss'],
  [
    { rights: { read: { anyone: true } }, fieldRights: { readTitle: { reads: ['title'], boss: true } } },
    'note: the right readTitle names boss',
  ],
  [{ rights: { read: { anyone: true, anonymous: true } } }, 'note: the right read names anonymous'],
])('%#: a right of an unknown role is refused', (more, place) => {
  const base = domain({ name: 'tried', roles: ['clerk'] });
  const note = base.aggregate('note', {
    fields: { title: line(9) },
    events: { made: { creates: ['title'] } },
    commands: { make: { emits: 'made' } },
    ...more,
  } as never);
  expect(() => assemble(base, [note] as never)).toThrow(
    new StartRefused(
      `${place}, which is not a role of the domain: use one of clerk, admin, anyone or signedIn.`,
    ),
  );
});

test('users are read by themselves and administrators, unless the domain says who else may', () => {
  const readersIn = (read?: object) => {
    const user = { ...(read && { read }) } as never;
    const served = assemble(domain({ name: 'tried', roles: ['clerk', 'chief'], user }), []);
    return Object.fromEntries(
      served.roles.map((role) => [
        role,
        expressionWords(rightOf(served, served.kinds.user as Kind, 'read', role)),
      ]),
    );
  };
  const themself = 'the caller is the user';
  expect(readersIn()).toEqual({ anonymous: 'never', clerk: themself, chief: themself, admin: 'always' });
  expect(readersIn({ chief: true, clerk: 'chief', admin: false })).toEqual({
    anonymous: 'never',
    clerk: `its role is chief, or ${themself}`,
    chief: 'always',
    admin: themself,
  });
  expect(readersIn({ anyone: 'chief' })).toMatchObject({
    anonymous: 'its role is chief',
    clerk: `its role is chief, or ${themself}`,
  });
  expect(readersIn({ signedIn: true })).toMatchObject({
    anonymous: 'never',
    clerk: 'always',
    chief: 'always',
  });
  expect(Object.values(readersIn({ anyone: true }))).toEqual(['always', 'always', 'always', 'always']);
  expect(() => readersIn({ as: 'team' })).toThrow(StartRefused);
});

test('a right of the domain takes fields from those that a user alone reads', () => {
  const fieldRights = { readContact: { reads: ['email', 'role', 'createdAt', 'updatedAt'], chief: true } };
  const { kinds } = assemble(
    domain({ name: 'tried', roles: ['clerk', 'chief'], user: { fieldRights: fieldRights as never } }),
    [],
  );
  expect(kinds.user?.fieldRights).toMatchObject({ readPrivate: { reads: [] }, ...fieldRights });
});

test.each([
  [{ owner: undefined }, 'but it has no owner'],
  [{ commands: {} }, 'but no command creates it'],
])('%#: a right to name another owner needs an owner and a creation', (more, why) => {
  const base = domain({ name: 'tried', roles: ['clerk'] });
  const note = base.aggregate('note', {
    owner: 'author',
    fields: { author: ref(base.user), title: line(9) },
    events: { made: { creates: ['title'] } },
    commands: { make: { emits: 'made' } },
    rights: { read: { anyone: true }, forOthers: { clerk: true } },
    ...more,
  } as never);
  expect(() => assemble(base, [note] as never)).toThrow(
    new StartRefused(
      `note: the right forOthers names who may create one for another owner, ${why}: remove the right.`,
    ),
  );
});
