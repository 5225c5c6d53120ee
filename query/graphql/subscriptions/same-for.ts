import { itemType } from '#kernel/base/names.ts';
import { oncePer } from '#kernel/base/once-per.ts';
import { isUser } from '#kernel/base/users.ts';
import { isFileField } from '#kernel/decide/accepted-files.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { ItemSource, Member, Source, Sources } from '../../rows/source.ts';
import { demandSource, rightsToField, sourcesOf } from '../../rows/sources.ts';
import { mayBeAbsent } from '../rules/absence.ts';
import { changedName, changeType, eventName, idArgument, listsOf, memberName } from '../rules/names.ts';
import { schemaOf } from '../schema/schema.ts';
import { askersOf, sameBehind, sameUnder } from './same-behind.ts';
import {
  type Fields,
  IN_CONNECTION,
  IN_EDGE,
  IN_PAYLOAD,
  type SameFor,
  type SameInTypes,
  sameInKernel,
} from './same-in-kernel.ts';

export const sameFor = (domain: Domain, type: string, field: string): SameFor | undefined =>
  sameInTypes(domain)[type]?.[field];

const sameInTypes = oncePer((domain: Domain) => makeTypes(domain));

const makeTypes = (domain: Domain): SameInTypes => {
  const sources = sourcesOf(domain);
  const kinds = sources.all.map(({ kind }) => kind);
  const roots = kinds.flatMap((kind) => [
    changedName(kind),
    ...Object.values(kind.events).map((event) => eventName(kind, event)),
  ]);
  const user = { webhooks: 'all_but_its_own', webhooksConnection: 'all_but_its_own' } as const;
  const types = sources.all.flatMap((source): readonly (readonly [string, Fields])[] => {
    const { type, name } = source.kind;
    return [
      [type, { ...sameInType(domain, sources, source), ...(isUser({ name }) && user) }],
      [`${type}Connection`, IN_CONNECTION],
      [`${type}Edge`, IN_EDGE],
      [changeType(source.kind), { ...IN_PAYLOAD, [name]: 'all' }],
      ...source.items.flatMap((items) => sameInItems(domain, items)),
    ];
  });
  return {
    ...sameInKernel(schemaOf(domain), new Set(kinds.map(({ type }) => type))),
    ...Object.fromEntries(types),
    Subscription: { ...Object.fromEntries(roots.map((root) => [root, 'all'])), changes: 'all' },
    Change: { ...IN_PAYLOAD, ...Object.fromEntries(kinds.map(({ name }) => [name, 'all'])), webhook: 'all' },
  };
};

const sameInType = (domain: Domain, sources: Sources, source: Source): Fields => {
  const { members, children } = source;
  const plain = [
    'id',
    'createdAt',
    'updatedAt',
    'version',
    'asOf',
    'history',
    'proof',
    'readers',
    ...members.flatMap(({ name, target }) => (target ? [] : [name])),
  ];
  return {
    ...Object.fromEntries(plain.map((name) => [name, sameWith(domain, source, rightsToField(source, name))])),
    ...Object.fromEntries(
      members.flatMap((member) =>
        mayBeAbsent(domain, source, member)
          ? [[idArgument(member), sameWith(domain, source, rightsToField(source, member.name))]]
          : [],
      ),
    ),
    ...addressesIn(members),
    ...Object.fromEntries(
      source.items.flatMap(({ list: { name }, part }) =>
        [name, `${name}Connection`].map(
          (each) => [each, sameWith(domain, source, part ? [part.right] : [])] as const,
        ),
      ),
    ),
    ...Object.fromEntries(
      members.flatMap((member) =>
        member.target
          ? [
              [
                memberName(member),
                member.guard === undefined ? sameBehind(domain, source, member) : undefined,
              ],
            ]
          : [],
      ),
    ),
    ...Object.fromEntries(
      children.flatMap((child) => {
        const same = sameUnder(domain, demandSource(sources, child.kind.name), child);
        return [listsOf(child.kind), `${listsOf(child.kind)}Connection`].map((name) => [name, same]);
      }),
    ),
  };
};

const addressesIn = (members: readonly Member[]): Fields =>
  Object.fromEntries(
    members.flatMap(({ name, def }) => [
      ...(def.kind === 'upload' ? [[`${name}Address`, 'all'] as const] : []),
      ...(isFileField(def) ? [[`${name}Details`, 'all'] as const] : []),
    ]),
  );

/**
 * A guarded part: if its right asks for users other than the owner, the change of another aggregate need not
 * concern them.
 */
const sameWith = (
  domain: Domain,
  { kind, owner }: Source,
  rights: readonly string[],
): SameFor | undefined => {
  const own = isUser(kind) ? 'id' : owner?.name;
  const askers = rights.flatMap((right) => [...askersOf(domain, right)]);
  if (askers.length === 0) return 'all';
  return askers.every((asker) => asker === own) ? 'all_but_its_own' : undefined;
};

/** Readers of the aggregate see all its items; the items’ references lead to data of others. */
const sameInItems = (
  domain: Domain,
  { kind, list, members }: ItemSource,
): readonly (readonly [string, Fields])[] => {
  const type = itemType(kind, list);
  const behind = ({ target }: Member): SameFor | undefined =>
    target && (askersOf(domain, `${target.name}.read`).size > 0 ? undefined : 'all_and_leads_to_others');
  const fields = [list.id.name, 'createdAt', 'updatedAt', kind.field].map((name) => [name, 'all'] as const);
  const ofMembers = members.map(
    (member) => [memberName(member), member.target ? behind(member) : 'all'] as const,
  );
  const ids = members.flatMap((member) => (member.target ? [[idArgument(member), 'all'] as const] : []));
  return [
    [type, { ...Object.fromEntries([...fields, ...ofMembers, ...ids]), ...addressesIn(members) }],
    [`${type}Connection`, IN_CONNECTION],
    [`${type}Edge`, IN_EDGE],
  ];
};
