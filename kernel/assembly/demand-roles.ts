import { FOR_OTHERS } from '../conditions/rights.ts';
import { WORDS_OF_RIGHTS } from '../declare/words.ts';
import type { Domain } from '../registry/registry.ts';
import { isAuditorRole } from '../registry/roles.ts';
import { eachKind, type Sentences } from './refusals.ts';

/** The anonymous role, the kernel’s own role, and the word that closes sign-up. */
const NO_ROLES = new Set(['anonymous', 'admin', 'off']);

type Roles = Pick<Domain, 'name' | 'roles' | 'signUp' | 'auditors'>;

export function* demandRoles({ name, roles, signUp, auditors }: Roles): Sentences {
  for (const role of roles) {
    if (isAuditorRole({ auditors }, role))
      yield `the role ${role} is in \`roles\`, and \`auditors\` adds it with other rights: remove one of them.`;
    if (NO_ROLES.has(role)) yield `the role ${role} is reserved: give it another name.`;
    if (WORDS_OF_RIGHTS.has(role)) yield `the role ${role} is a keyword of rights: give it another name.`;
  }
  if (!roles.includes(signUp))
    yield `${name}: \`signUp\` is ${signUp}, which is not one of its roles: use one of ${roles.join(', ')}.`;
}

/** Nobody is named as the owner of an aggregate without one, or of one that no command creates. */
export const demandForOthers = eachKind(function* ({ rights, owner, commands }): Sentences {
  if (Object.hasOwn(commands, FOR_OTHERS))
    yield `the command ${FOR_OTHERS} has the name of a right: give it another name.`;
  const isOwned = owner !== undefined && Object.values(commands).some(({ kind }) => kind === 'create');
  if (rights[FOR_OTHERS] !== undefined && !isOwned)
    yield `the right ${FOR_OTHERS} names who may create one for another owner, but ${owner === undefined ? 'it has no owner' : 'no command creates it'}: remove the right.`;
});

/** An entry for an unknown role would be ignored: nobody would get the right. */
export function* demandCells({ roles, kinds, views, ...domain }: Domain): Sentences {
  const named = roles.filter((role) => role !== 'anonymous' && !isAuditorRole(domain, role));
  for (const { name, rights, fieldRights } of [...Object.values(kinds), ...views.map(({ asked }) => asked)])
    for (const [right, row] of [...Object.entries(rights), ...Object.entries(fieldRights)])
      for (const cell of Object.keys(row))
        if (!named.includes(cell) && !WORDS_OF_RIGHTS.has(cell))
          yield `${name}: the right ${right} names ${cell}, which is not a role of the domain: use one of ${named.join(', ')}, anyone or signedIn.`;
}
