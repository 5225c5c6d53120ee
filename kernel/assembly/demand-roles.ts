import { StartRefused } from '../base/start-refused.ts';
import { FOR_OTHERS } from '../conditions/rights.ts';
import { WORDS_OF_RIGHTS } from '../declare/aggregate.ts';
import type { Domain } from '../registry/registry.ts';

/** The anonymous role, the kernel’s own role, and the word that closes sign-up. */
const NO_ROLES = new Set(['anonymous', 'admin', 'off']);

export const demandRoles = ({ name, roles, signUp }: Pick<Domain, 'name' | 'roles' | 'signUp'>): void => {
  const [wrong] = roles.flatMap((role) => {
    if (NO_ROLES.has(role)) return [`the role ${role} is reserved`];
    return WORDS_OF_RIGHTS.has(role) ? [`the role ${role} is a keyword of rights`] : [];
  });
  if (wrong !== undefined) throw new StartRefused(`${wrong}: give it another name.`);
  if (!roles.includes(signUp))
    throw new StartRefused(
      `${name}: \`signUp\` is ${signUp}, which is not one of its roles: use one of ${roles.join(', ')}.`,
    );
};

/** Nobody is named as the owner of an aggregate without one, or of one that no command creates. */
export const demandForOthers = ({ kinds }: Domain): void => {
  for (const { name, rights, owner, commands } of Object.values(kinds)) {
    if (Object.hasOwn(commands, FOR_OTHERS))
      throw new StartRefused(
        `${name}: the command ${FOR_OTHERS} has the name of a right: give it another name.`,
      );
    const isOwned = owner !== undefined && Object.values(commands).some(({ kind }) => kind === 'create');
    if (rights[FOR_OTHERS] !== undefined && !isOwned)
      throw new StartRefused(
        `${name}: the right ${FOR_OTHERS} names who may create one for another owner, but ${owner === undefined ? 'it has no owner' : 'no command creates it'}: remove the right.`,
      );
  }
};

/** An entry for an unknown role would be ignored: nobody would get the right. */
export const demandCells = ({ roles, kinds, views }: Domain): void => {
  const named = roles.filter((role) => role !== 'anonymous');
  const known = new Set([...named, ...WORDS_OF_RIGHTS]);
  for (const { name, rights, fieldRights } of [...Object.values(kinds), ...views.map(({ asked }) => asked)])
    for (const [right, row] of [...Object.entries(rights), ...Object.entries(fieldRights)]) {
      const wrong = Object.keys(row).find((cell) => !known.has(cell));
      if (wrong !== undefined)
        throw new StartRefused(
          `${name}: the right ${right} names ${wrong}, which is not a role of the domain: use one of ${named.join(', ')}, anyone or signedIn.`,
        );
    }
};
