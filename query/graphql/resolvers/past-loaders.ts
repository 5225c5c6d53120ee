import { GraphQLError } from 'graphql';
import type { Pool } from '#shared/database/pool.ts';
import { HttpProblem } from '#shared/http/http-problem.ts';
import { type Caller, may, type Resource } from '#shared/policy.ts';
import type { Kind } from '../../as-of/aggregates.ts';
import { findThen, type Stretch } from '../../as-of/candidates.ts';
import { isAuditor, READING } from '../../as-of/items.ts';
import { articlesThen, commentsThen, usersThen, webhooksThen } from '../../as-of/listed.ts';
import type { Past } from '../../as-of/past.ts';
import { webhookResource } from '../../webhooks/representation.ts';
import { ANSWER_BYTES_MAX, beyondLimit } from '../documents/limits.ts';
import type { Context } from './context.ts';
import { commentResource, type Loaders, postResource, userResource } from './loaders.ts';
import type { Asked, ListOf, Row, TypeName } from './rows.ts';

/** The kind of thing that each type is. */
export const KINDS = { User: 'user', Post: 'article', Comment: 'comment', Webhook: 'webhook' } as const satisfies Record<TypeName, Kind>;

type Options = {
  readonly pool: Pool;
  readonly past: Past;
  readonly caller: Caller;
  /** What is there now, because nobody but auditors sees what they may not read any more. */
  readonly now: Loaders;
  /** In which what the rows lead to is read. */
  asOf(): Context;
};

/** Reads as of then, for one request: each thing out of its own stream. */
export const createPastLoaders = ({ pool, past, caller, now, asOf }: Options): Loaders => {
  let bytesLeft = ANSWER_BYTES_MAX;
  const rowOf = (type: TypeName, row: object): Row => ({ ...row, type, asOf: asOf() }) as unknown as Row;
  const find: Loaders['find'] = async (type, id) => {
    const row = await past.row<object>(KINDS[type], id);
    return row && rowOf(type, row);
  };
  const resourceOf = async (row: Row): Promise<Resource | undefined> => {
    switch (row.type) {
      case 'User':
        return row.deleted_at === null ? userResource(row) : undefined;
      case 'Post':
        return postResource(row);
      case 'Comment': {
        const post = await find('Post', row.article_id);
        return post?.type === 'Post' ? commentResource(post, row) : undefined;
      }
      case 'Webhook':
        return row.url === null ? undefined : webhookResource(row);
    }
  };
  const isReadableNow = async ({ type, id }: Row): Promise<boolean> => {
    const row = await now.find(type, id);
    return row !== undefined && now.isReadable(row);
  };
  return {
    find,
    async body(post) {
      const { body } = post as unknown as { readonly body: string };
      bytesLeft -= body.length;
      if (bytesLeft < 0) throw beyondLimit('answer_too_large', { max: ANSWER_BYTES_MAX });
      return body;
    },
    async list(of, parentId) {
      const { asked, type } = of;
      const { parts, look } = listedThen({ past, caller }, of, parentId);
      const { found, stoppedAt } = await findThen<object>({ pool, past, parts, stretch: stretchOf(asked), wanted: asked.rowsMax, look });
      if (stoppedAt) throw tooMany();
      return found.map((row) => rowOf(type, row));
    },
    count: () => Promise.reject(refused('How many there were is not told as of then.')),
    together: () => Promise.reject(refused('What became of deliveries is not told as of then.')),
    async isReadable(row) {
      const kind = KINDS[row.type];
      const resource = await resourceOf(row);
      if (resource === undefined) return false;
      return isAuditor(caller, kind) || (may(caller, READING[kind], resource) && (await isReadableNow(row)));
    },
  };
};

const listedThen = ({ past, caller }: Pick<Options, 'past' | 'caller'>, { type, parent, asked }: ListOf<TypeName>, parentId: number) => {
  const { filter, column } = asked;
  if (column === 'published_at') throw refused('A list as of then is ordered by creation.');
  if ((filter.search ?? null) !== null) throw refused('Words are looked for in what is there now.');
  const ofParent = parent === undefined ? null : parentId;
  switch (type) {
    case 'User':
      return usersThen(past, caller);
    case 'Post':
      return articlesThen(past, caller, { ...filter, author: both(ofParent, filter.author) });
    case 'Comment':
      return commentsThen(past, caller, parentId);
    case 'Webhook':
      return webhooksThen(past, caller, { ...filter, owner: both(ofParent, filter.owner) });
  }
};

const NOBODY = -1;

/** Whose they must be, where two may say so. */
const both = (one: number | null, other: number | null | undefined): number | null =>
  one !== null && (other ?? one) !== one ? NOBODY : (one ?? other ?? null);

const stretchOf = ({ descending, isBackward, after, before }: Asked): Stretch => ({
  isDownward: descending !== isBackward,
  beyond: isBackward ? before : after,
  before: isBackward ? after : before,
});

const refused = (detail: string): HttpProblem => new HttpProblem('invalid_parameter', { detail });

/** Over REST, a page may be short and have others behind it; a connection has no place for that. */
const tooMany = (): GraphQLError =>
  new GraphQLError('Too much would have to be looked at for a list as of then: ask for less, or over REST.', {
    extensions: { code: 'too_much_to_look_at' },
  });
