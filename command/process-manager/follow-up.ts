import { v5 } from 'uuid';
import type { ArticleId, CommentId, EventId, StreamName } from '#shared/brands.ts';
import type { DecodedEvent } from '#shared/events/codec.ts';
import type { MetadataContext } from '#shared/events/metadata.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import { article, articleStream } from '../articles/article.ts';
import type { Circumstances } from '../circumstances.ts';
import { comment, commentStream } from '../comments/comment.ts';
import type { Executor } from '../execute.ts';
import { userStream } from '../users/user.ts';
import type { Membership } from './membership.ts';

export type FollowUpDependencies = { readonly executor: Executor; readonly keys: KeyStore };

/** The types that something follows from. */
const FOLLOWED = ['article.drafted', 'article.deleted', 'comment.added', 'comment.deleted', 'user.deleted'] as const;
export type Followed = (typeof FOLLOWED)[number];
export const isFollowed = (type: string): boolean => FOLLOWED.some((followed) => followed === type);

const ORPHANS_AT_ONCE = 100;

/**
 * What a change brings with it: the comments of a deleted article, the drafts and the key of a deleted user.
 * Everything may be done again after a crash: the events that follow have ids made from the event that they follow from.
 */
export const followUp = async (
  dependencies: FollowUpDependencies,
  membership: Membership,
  event: DecodedEvent<Followed>,
): Promise<void> => {
  switch (event.type) {
    case 'article.drafted': {
      const [parent, child] = [userStream(event.data.authorId), articleStream(event.data.articleId)];
      if ((await membership.join(parent, child)) === 'parent_is_gone') await discardDraft(dependencies, child, event);
      return;
    }
    case 'comment.added': {
      const [parent, child] = [articleStream(event.data.articleId), commentStream(event.data.commentId)];
      if ((await membership.join(parent, child)) === 'parent_is_gone') await deleteComment(dependencies, child, event);
      return;
    }
    case 'comment.deleted':
      return membership.leave(articleStream(event.data.articleId), event.stream);
    case 'article.deleted':
      await membership.leave(userStream(event.data.authorId), event.stream);
      return forOrphans(membership, event.stream, (child) => deleteComment(dependencies, child, event));
    case 'user.deleted':
      await forOrphans(membership, event.stream, (child) => discardDraft(dependencies, child, event));
      return dependencies.keys.destroy(event.data.userId);
  }
};

const forOrphans = async (membership: Membership, parent: StreamName, act: (child: StreamName) => Promise<unknown>): Promise<void> => {
  for (;;) {
    const orphans = await membership.orphansOf(parent, ORPHANS_AT_ONCE);
    if (orphans.length === 0) return;
    await Promise.all(orphans.map(act));
  }
};

const idOf = (stream: StreamName): number => Number(stream.slice(stream.indexOf('-') + 1));

const discardDraft = ({ executor }: FollowUpDependencies, stream: StreamName, cause: DecodedEvent<Followed>) => {
  const input = { type: 'DiscardDraft', articleId: idOf(stream) as ArticleId } as const;
  return executor.change({ decider: article, stream, input, permit: () => {} }, circumstancesOf(cause, stream));
};

const deleteComment = ({ executor }: FollowUpDependencies, stream: StreamName, cause: DecodedEvent<Followed>) => {
  const input = { type: 'DeleteComment', commentId: idOf(stream) as CommentId } as const;
  return executor.change({ decider: comment, stream, input, permit: () => {} }, circumstancesOf(cause, stream));
};

const circumstancesOf = ({ id, metadata }: DecodedEvent<Followed>, stream: StreamName): Circumstances => ({
  metadata: followedFrom(id, metadata),
  ids: {
    event: (ordinal) => v5(`${stream} ${ordinal}`, id) as EventId,
    aggregate: () => {
      throw new Error('the process manager creates nothing');
    },
  },
  ifVersion: undefined,
  mayBeRepeat: false,
});

const followedFrom = (cause: EventId, { client, request, correlation }: MetadataContext): MetadataContext => ({
  at: new Date().toISOString(),
  actor: 'system:process-manager',
  client,
  request,
  correlation,
  causation: cause,
});
