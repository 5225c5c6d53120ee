import type { UploadField } from '#kernel/decide/upload-fields.ts';
import { capital, itemType, targetOf } from '#kernel/registry/names.ts';
import type { CommandInfo, CommandKind, EventInfo, Kind, ViewInfo } from '#kernel/registry/registry.ts';
import type { ItemSource, Member, Sort } from '../sources.ts';

/** What GraphQL calls what the domain declares. */

/** Lists of an aggregate: `posts`. */
export const listsOf = ({ name, plural, field }: Kind): string =>
  plural === `${name}s` ? `${field}s` : plural;

/** A reference that is named after its aggregate has the name that the aggregate has here. */
export const memberName = ({ name, def, target }: Pick<Member, 'name' | 'def' | 'target'>): string =>
  target && name === targetOf(def) ? target.field : name;

/** The id of it in arguments: `postId`. */
export const idArgument = (member: Pick<Member, 'name' | 'def' | 'target'>): string =>
  `${memberName(member)}Id`;

export const enumName = ({ type }: Pick<Kind, 'type'>, { name, def }: Pick<Member, 'name' | 'def'>): string =>
  def.enumName ?? `${type}${capital(name)}`;

/** As the enumerations of orders name it: `PUBLISHED_AT_DESC`. */
export const orderName = ({ name }: Pick<Sort, 'name'>, descending: boolean): string =>
  `${name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}_${descending ? 'DESC' : 'ASC'}`;

/** Those that there are mutations for. */
export const mutatingCommands = ({ commands }: Kind): readonly CommandInfo[] =>
  Object.values(commands).filter(({ internal }) => !internal);

/** What tells an item of a list apart, in arguments: `itemId`, `approverId`, `word`. */
export const itemArgument = ({ list: { key, id }, members: [first] }: ItemSource): string =>
  key === undefined || !first ? id.name : first.target ? idArgument(first) : key;

/** Of items of lists; there is at most one for each. */
const ITEM_VERBS: Readonly<Partial<Record<CommandKind, string>>> = {
  addItem: 'add',
  changeItem: 'update',
  moveItem: 'move',
  removeItem: 'remove',
};

/** The mutation of a command: `createPost`, `addComment`, `publishPost`, `addClaimItem`. */
export const mutationName = (aggregate: Kind, { kind, name, list }: CommandInfo): string => {
  const { type, parent } = aggregate;
  if (list !== undefined) return `${ITEM_VERBS[kind]}${itemType(aggregate, list)}`;
  switch (kind) {
    case 'create':
      return `${parent === undefined ? 'create' : 'add'}${type}`;
    case 'edit':
      return `update${type}`;
    default:
      return `${name}${type}`;
  }
};

/** The mutations of what is uploaded: `setPostCover` and `removePostCover`, `setClaimItemReceipt`. */
export const uploadMutations = (kind: Kind, { name, list }: Pick<UploadField, 'name' | 'list'>) => {
  const of = `${list === undefined ? kind.type : itemType(kind, list)}${capital(name)}`;
  return { set: `set${of}`, remove: `remove${of}` } as const;
};

/** What subscriptions tell: `ArticleChange`. */
export const changeType = ({ name }: Kind): string => `${capital(name)}Change`;

/** The subscription to everything that happens to one aggregate: `articleChanged`. */
export const changedName = ({ name }: Kind): string => `${name}Changed`;

/** The subscription to one event: `commentAdded`. */
export const eventName = ({ name }: Kind, event: EventInfo): string => `${name}${capital(event.name)}`;

/** The subscription to the rows of a view: `spendingChanged`. */
export const viewChangedName = ({ name }: Pick<ViewInfo, 'name'>): string => `${name}Changed`;
