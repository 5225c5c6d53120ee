import { capital, itemType } from '../base/names.ts';
import type { CommandInfo, CommandKind, Kind, ListInfo } from './registry.ts';

/** The names of mutations in GraphQL. */

/** The verbs of the first command of each kind to the items of a list. */
const ITEM_VERBS: Readonly<Partial<Record<CommandKind, string>>> = {
  addItem: 'add',
  changeItem: 'update',
  moveItem: 'move',
  removeItem: 'remove',
};

/** The mutation of a command: `createPost`, `addComment`, `publishPost`, `addClaimItem`. */
export const mutationName = (aggregate: Kind, { kind, name, list, verb }: CommandInfo): string => {
  const { type, parent } = aggregate;
  if (list !== undefined && (kind !== 'addItem' || verb === undefined))
    return `${verb ?? ITEM_VERBS[kind]}${itemType(aggregate, list)}`;
  switch (kind) {
    case 'create':
      return `${parent === undefined ? 'create' : 'add'}${type}`;
    case 'edit':
      return `update${type}`;
    default:
      return `${name}${type}`;
  }
};

type Uploaded = {
  readonly name: string;
  readonly list: ListInfo | undefined;
  readonly isRemovable: boolean;
};

/** The mutations of uploads: `setPostCover` and `removePostCover`, `setClaimItemReceipt`. */
export const uploadMutations = (
  kind: Kind,
  { name, list, isRemovable }: Uploaded,
): { readonly set: string; readonly remove?: string } => {
  const of = `${list === undefined ? kind.type : itemType(kind, list)}${capital(name)}`;
  return { set: `set${of}`, ...(isRemovable && { remove: `remove${of}` }) };
};

export const mutatingCommands = ({ commands }: Kind): readonly CommandInfo[] =>
  Object.values(commands).filter(({ internal }) => !internal);
