import { capital, targetOf } from '../base/names.ts';
import type { RestOperation } from '../base/rest/operation.ts';
import type { UploadField } from '../decide/upload-fields.ts';
import type { CommandInfo, Domain, Kind, ListInfo } from '../registry/registry.ts';

/** The action of an operation on an aggregate, from which its route is made. */
type Use = { readonly kind: Kind } & (
  | { readonly does: 'list' | 'listOfUser' | 'read' | 'history' | 'readers' | 'proof' }
  /** Groups what this list contains. */
  | { readonly does: 'aggregate'; readonly of: 'list' | 'listOfUser' }
  | { readonly does: 'listItems' | 'readItem'; readonly list: ListInfo }
  /** Sends one command. */
  | { readonly does: 'command'; readonly command: CommandInfo }
  | { readonly does: 'putFile' | 'removeFile'; readonly upload: UploadField }
);
/** An operation on an aggregate of the domain. */
export type AggregateOperation = RestOperation & { readonly use: Use };
export type Named = readonly [id: string, operation: AggregateOperation];

/** The prefix of schemas and operations on the items of a list: `ClaimItem`. */
export const nameOfItems = (kind: Kind, { one }: ListInfo): string => `${capital(kind.name)}${capital(one)}`;

export const itemPath = (kind: Kind): string => `/${kind.path}/{${kind.name}Id}`;
export const collectionPath = (domain: Domain, kind: Kind): string => {
  const parent = parentOf(domain, kind);
  return `${parent === undefined ? '' : itemPath(parent)}/${kind.path}`;
};
export const parentOf = (domain: Domain, kind: Kind): Kind | undefined => {
  const def = kind.parent === undefined ? undefined : kind.fields[kind.parent];
  return def && domain.kinds[targetOf(def)];
};
