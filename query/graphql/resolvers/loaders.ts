import { coalesce } from '#shared/database/coalesce.ts';
import { type Caller, may, type Resource } from '#shared/policy.ts';
import { Rejection } from '#shared/rejection.ts';
import type { ReadConnections } from '../../searches.ts';
import { webhookResource } from '../../webhooks/representation.ts';
import { ANSWER_BYTES_MAX, beyondLimit } from '../documents/limits.ts';
import {
  type CommentRow,
  countRows,
  findBodies,
  findRows,
  type ListOf,
  listRows,
  type PostRow,
  type Row,
  type TypeName,
  type UserRow,
} from './rows.ts';

/** Reads for one request: what fields of the same kind ask for at the same time is read by one statement. */
export type Loaders = {
  find(type: TypeName, id: number): Promise<Row | undefined>;
  /** The text of a post; refuses where all that are asked for make too much. */
  body(post: PostRow): Promise<string>;
  list(of: ListOf<TypeName>, parent: number): Promise<readonly Row[]>;
  count(of: ListOf<TypeName>, parent: number): Promise<number>;
  /** What belongs to a parent, and is loaded for all parents of whom the same is asked. */
  together<Parent extends number | string, Value>(
    asked: string,
    parent: Parent,
    loadMany: LoadMany<Parent, Value>,
  ): Promise<Value | undefined>;
  /** Whether the caller may read it by its id. */
  isReadable(row: Row): Promise<boolean>;
};

type LoadMany<Parent, Value> = (parents: readonly Parent[]) => Promise<ReadonlyMap<Parent, Value>>;

export const createLoaders = ({ pool, searches }: ReadConnections, caller: Caller): Loaders => {
  const finders = {
    User: coalesce<number, Row>((ids) => findRows(pool, 'User', ids)),
    Post: coalesce<number, Row>((ids) => findRows(pool, 'Post', ids)),
    Comment: coalesce<number, Row>((ids) => findRows(pool, 'Comment', ids)),
    Webhook: coalesce<number, Row>((ids) => findRows(pool, 'Webhook', ids)),
  };
  const lists = new Map<string, (parent: number) => Promise<readonly Row[] | undefined>>();
  const counts = new Map<string, (parent: number) => Promise<number | undefined>>();
  const others = new Map<string, (parent: never) => Promise<unknown>>();
  const ofKey = <Load>(loads: Map<string, Load>, of: ListOf<TypeName>, make: () => Load): Load => {
    const key = JSON.stringify(of);
    const load = loads.get(key) ?? make();
    loads.set(key, load);
    return load;
  };
  const poolFor = ({ asked }: ListOf<TypeName>) => (typeof asked.filter.search === 'string' ? searches.pool : pool);
  const find: Loaders['find'] = (type, id) => finders[type](id);
  const bodies = coalesce<number, string | null>((ids) => findBodies(pool, ids));
  let bytesLeft = ANSWER_BYTES_MAX;
  return {
    find,
    async body({ id }) {
      const body = await bodies(id);
      // It was deleted after the post itself was read.
      if (body === undefined) throw new Rejection('article_not_found');
      // In the answer it stands as often as it is asked for.
      bytesLeft -= body?.length ?? 0;
      if (body === null || bytesLeft < 0) throw beyondLimit('answer_too_large', { max: ANSWER_BYTES_MAX });
      return body;
    },
    async list(of, parent) {
      const load = ofKey(lists, of, () =>
        coalesce<number, readonly Row[]>((parents) => listRows({ pool: poolFor(of), caller }, of, parents)),
      );
      return (await load(parent)) ?? [];
    },
    async count(of, parent) {
      const load = ofKey(counts, of, () => coalesce<number, number>((parents) => countRows({ pool: poolFor(of), caller }, of, parents)));
      return (await load(parent)) ?? 0;
    },
    together<Parent extends number | string, Value>(asked: string, parent: Parent, loadMany: LoadMany<Parent, Value>) {
      // What is asked for tells of which kind the parents and the values are.
      const load = (others.get(asked) as ((parent: Parent) => Promise<Value | undefined>) | undefined) ?? coalesce(loadMany);
      others.set(asked, load);
      return load(parent);
    },
    async isReadable(row) {
      switch (row.type) {
        case 'User':
          return row.deleted_at === null && may(caller, 'user.read', userResource(row));
        case 'Post':
          return may(caller, 'article.read', postResource(row));
        case 'Comment': {
          const post = await find('Post', row.article_id);
          return post?.type === 'Post' && may(caller, 'comment.read', commentResource(post, row));
        }
        case 'Webhook':
          return row.url !== null && may(caller, 'webhook.manage', webhookResource(row));
      }
    },
  };
};

export const userResource = ({ id }: UserRow): Resource => ({ fields: { id } });

export const postResource = ({ author_id, status }: PostRow): Resource => ({ fields: { author: author_id, status } });

/** Of a comment, or of all that stand on a post. */
export const commentResource = (post: PostRow, comment?: CommentRow): Resource => ({
  fields: { author: comment?.author_id },
  find: () => ({ author: post.author_id, status: post.status }),
});
