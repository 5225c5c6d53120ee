import { statusAfter } from '#shared/change-stream/article-history.ts';
import { type Caller, may } from '#shared/policy.ts';
import type { HistoryEntry } from '#shared/rest/history.ts';
import type { Kind } from '../as-of/aggregates.ts';
import type { Described } from './describe.ts';

type Of = { readonly kind: Kind; readonly id: number; readonly caller: Caller };

/** To the item as an event left it, where that was for the caller to read, and to where the cause of the event stands. */
export const linksOf = ({ kind, id, caller }: Of, { change, isReadable, data }: Described): HistoryEntry['_links'] => {
  const { version, type, origin, resource } = change;
  const status = kind === 'article' ? (statusAfter(type) ?? resource.articleStatus) : undefined;
  const isShown =
    isReadable &&
    !type.endsWith('.deleted') &&
    (status === undefined || may(caller, 'article.read', { fields: { author: resource.ownerId, status } }));
  const cause = origin?.causation ? causeOf(type, data) : undefined;
  return {
    ...(isShown && { self: { href: `/${kind}s/${id}?at=v${version}` } }),
    ...(cause !== undefined && may(caller, 'events.trace', {}) && { cause: { href: cause } }),
  };
};

type Ids = { readonly articleId?: number; readonly authorId?: number; readonly ownerId?: number };

/** What deletes other things, as a user takes their drafts along. */
const causeOf = (type: string, data: object): string | undefined => {
  const { articleId, authorId, ownerId } = data as Ids;
  switch (type) {
    case 'comment.deleted':
      return `/articles/${articleId}/history`;
    case 'article.deleted':
      return `/users/${authorId}/history`;
    case 'webhook.deleted':
      return `/users/${ownerId}/history`;
    default:
      return undefined;
  }
};
