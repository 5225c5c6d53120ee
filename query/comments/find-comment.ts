import { coalesce } from '#shared/database/coalesce.ts';
import type { Pool } from '#shared/database/pool.ts';
import { streamName } from '#shared/events/streams.ts';
import { notFound, Rejection } from '#shared/rejection.ts';
import { pathId } from '#shared/rest/path-id.ts';
import { refuseParked } from '../parked.ts';
import type { CommentPlace, CommentRow } from './representation.ts';
import { type FoundComment, findComments } from './statements.ts';

/** Finds the comment that a path names. What is seen as absent is refused as absent. */
export type FindComment = (id: string, isSeen: (comment: PlacedComment) => boolean) => Promise<PlacedComment>;

type PlacedComment = CommentRow & CommentPlace;

export const createCommentFinder = (pool: Pool): FindComment => {
  const find = coalesce<number, FoundComment>((ids) => findComments(pool, ids));
  return async (text, isSeen) => {
    const id = pathId(text);
    const comment = id === undefined ? undefined : await find(id);
    if (id !== undefined && comment === undefined) await refuseParked(pool, streamName('comment', id));
    if (comment !== undefined && !isPlaced(comment)) await refuseParked(pool, streamName('article', comment.article_id));
    // Without its article it is about to go too.
    if (comment === undefined || !isPlaced(comment) || !isSeen(comment)) throw new Rejection(notFound('comment'));
    if (!comment.author_found) await refuseParked(pool, streamName('user', comment.author_id));
    return comment;
  };
};

const isPlaced = (comment: FoundComment): comment is FoundComment & CommentPlace => comment.article_status !== null;
