import { capital, targetOf } from '#kernel/base/names.ts';
import type { CommandInfo, EventInfo, Kind, ViewInfo } from '#kernel/registry/registry.ts';
import type { ItemSource, Member, Sort } from '../../rows/source.ts';

/** GraphQL names of what the domain declares. */

/** Lists of an aggregate: `posts`. */
export const listsOf = ({ name, plural, field }: Kind): string =>
  plural === `${name}s` ? `${field}s` : plural;

/** A reference with the name of its kind is named as that kind is in GraphQL. */
export const memberName = ({ name, def, target }: Pick<Member, 'name' | 'def' | 'target'>): string =>
  target && name === targetOf(def) ? target.field : name;

/** The argument for the id of a reference: `postId`. */
export const idArgument = (member: Pick<Member, 'name' | 'def' | 'target'>): string =>
  `${memberName(member)}Id`;

export const enumName = ({ type }: Pick<Kind, 'type'>, { name, def }: Pick<Member, 'name' | 'def'>): string =>
  def.enumName ?? `${type}${capital(name)}`;

/** The name in enumerations of orders: `PUBLISHED_AT_DESC`. */
export const orderName = ({ name }: Pick<Sort, 'name'>, descending: boolean): string =>
  `${name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}_${descending ? 'DESC' : 'ASC'}`;

/** The argument for the key of an item: `itemId`, `approverId`, `word`. */
export const itemArgument = ({ list: { key, id }, members: [first] }: ItemSource): string =>
  key === undefined || !first ? id.name : first.target ? idArgument(first) : key;

/** The input of a command that adds an item: `ClaimItemInput`, `ReplyTicketMessageInput`. */
export const additionInput = (type: string, { verb }: CommandInfo): string =>
  `${verb === undefined ? '' : capital(verb)}${type}Input`;

/** The type of a subscription’s payload: `ArticleChange`. */
export const changeType = ({ name }: Kind): string => `${capital(name)}Change`;

/** The subscription to all events of one aggregate: `articleChanged`. */
export const changedName = ({ name }: Kind): string => `${name}Changed`;

/** The subscription to one event: `commentAdded`. */
export const eventName = ({ name }: Kind, event: EventInfo): string => `${name}${capital(event.name)}`;

/** The subscription to the rows of a view: `spendingChanged`. */
export const viewChangedName = ({ name }: Pick<ViewInfo, 'name'>): string => `${name}Changed`;

/** The groups of a list of an aggregate: `postsAggregate`. */
export const aggregateName = (kind: Kind): string => `${listsOf(kind)}Aggregate`;

/**
 * The names in enumerations of dimensions and measures: `MONTH_OF_CREATED_AT` for `month(createdAt)`, and
 * `SUM_OF_TOTAL` for `sum(total)`. A field with such a name gets an underscore, so that no field changes the
 * meaning of a name.
 */
export const aggregateNames = <Named extends { readonly name: string }>(
  all: readonly Named[],
): ReadonlyMap<string, Named> => {
  const named = new Map<string, Named>();
  for (const each of all.toSorted((one, other) => Number(isField(one)) - Number(isField(other)))) {
    let name = each.name
      .replace(/\((\w+)\)$/, (_, field: string) => `Of${capital(field)}`)
      .replaceAll(/[A-Z]/g, (letter) => `_${letter}`)
      .toUpperCase();
    while (named.has(name)) name += '_';
    named.set(name, each);
  }
  return named;
};

/** Not a measure, and not the period of a time. */
const isField = (each: { readonly name: string }): boolean => !('of' in each || each.name.endsWith(')'));
