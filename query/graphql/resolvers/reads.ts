import { blobOfUpload } from '#shared/blobs/blob-name.ts';
import { streamName } from '#shared/events/streams.ts';
import type { Resource } from '#shared/policy.ts';
import { may } from '#shared/policy.ts';
import { pathId } from '#shared/rest/path-id.ts';
import { DELETED_USER } from '#shared/rest/users.ts';
import { ERASED_TEXT } from '../../comments/representation.ts';
import { eventTypesOf } from '../../event-types/event-types.ts';
import { refuseParked } from '../../parked.ts';
import { signAddress } from '../../uploads/signed-address.ts';
import { auditStatus } from './audit.ts';
import type { Context, Resolver } from './context.ts';
import { history } from './histories.ts';
import { type Listed, readConnection, readPlainList } from './lists.ts';
import { commentResource, userResource } from './loaders.ts';
import { KINDS } from './past-loaders.ts';
import { type CommentRow, NO_PARENT, type PostRow, type Row, type TypeName, type UserRow } from './rows.ts';

type Arguments = Readonly<Record<string, unknown>>;
type Resolvers = Readonly<Record<string, Resolver>>;

/** Null where there is none that the caller may read; what stands still cannot be said to be absent. */
export const readById = async ({ pool, loaders, past }: Context, type: TypeName, given: unknown): Promise<Row | null> => {
  const id = pathId(String(given));
  if (id === undefined) return null;
  const row = await loaders.find(type, id);
  // What stood still then was refused where it was looked for.
  if (row === undefined) {
    if (!past) await refuseParked(pool, streamName(KINDS[type], id));
    return null;
  }
  if (await loaders.isReadable(row)) return row;
  if (!past && row.type === 'Comment') await refuseParked(pool, streamName('article', row.article_id));
  return null;
};

/** What another row names is there, unless it is parked. */
export const demandRow = async ({ pool, loaders }: Context, type: TypeName, id: number): Promise<Row> => {
  const row = await loaders.find(type, id);
  if (row !== undefined) return row;
  await refuseParked(pool, streamName(KINDS[type], id));
  throw new Error(`${KINDS[type]} ${id} is missing from the read model`);
};

const byId =
  (type: TypeName): Resolver =>
  async (_query, { id, at }, context) =>
    readById(isGiven(at) ? await context.at(at, { type, id }) : context, type, id);

const isGiven = (at: unknown): at is string => (at ?? null) !== null;

/** A list of everything, as of then where that is asked for. */
const listedAt =
  (type: TypeName, read: typeof readPlainList | typeof readConnection): Resolver =>
  async (_query, args, context) =>
    read(isGiven(args.at) ? await context.at(args.at) : context, { type, parent: undefined, parentId: NO_PARENT }, args);

const listed =
  <Parent>(of: (parent: Parent, context: Context) => Listed, read: typeof readPlainList | typeof readConnection) =>
  (parent: Parent, args: Arguments, context: Context): unknown =>
    read(context, of(parent, context), args);

export const QUERY: Resolvers = {
  cursor: (_query, _args, { cursor }) => cursor,
  async node(_query, { id }, context) {
    for (const type of ['Comment', 'Post', 'User', 'Webhook'] as const) {
      const row = await readById(context, type, id);
      if (row) return row;
    }
    return null;
  },
  user: byId('User'),
  post: byId('Post'),
  comment: byId('Comment'),
  me: (_query, _args, context) => (context.caller.kind === 'user' ? readById(context, 'User', context.caller.userId) : null),
  users: listedAt('User', readPlainList),
  usersConnection: listedAt('User', readConnection),
  posts: listedAt('Post', readPlainList),
  postsConnection: listedAt('Post', readConnection),
  webhook: byId('Webhook'),
  webhooks: listedAt('Webhook', readPlainList),
  webhooksConnection: listedAt('Webhook', readConnection),
  eventTypes: (_query, _args, { domain }) => eventTypesOf(domain),
  auditStatus,
};

export const common = {
  id: ({ id }: Row) => String(id),
  version: ({ version }: Row) => version,
  asOf: (_row: Row, _args: Arguments, { past }: Context) => past?.cursor ?? null,
  history,
};

export const dated = {
  createdAt: ({ created_at }: Row) => created_at.toISOString(),
  updatedAt: ({ updated_at }: Row) => updated_at.toISOString(),
};

/** For the user and administrators; null for others, and of those who were deleted. */
const privately =
  (read: (user: UserRow) => unknown) =>
  (user: UserRow, _args: Arguments, { caller }: Context): unknown =>
    user.deleted_at === null && may(caller, 'user.read_private', userResource(user)) ? read(user) : null;

const webhooksOf = ({ id }: UserRow): Listed => ({ type: 'Webhook', parent: 'owner_id', parentId: id });
const postsOf = ({ id }: UserRow): Listed => ({ type: 'Post', parent: 'author_id', parentId: id });

export const USER: Resolvers = {
  ...common,
  name: ({ name }: UserRow) => name ?? DELETED_USER,
  email: privately(({ email }) => email),
  role: privately(({ role }) => role),
  createdAt: privately(dated.createdAt),
  updatedAt: privately(dated.updatedAt),
  posts: listed(postsOf, readPlainList),
  postsConnection: listed(postsOf, readConnection),
  webhooks: listed(webhooksOf, readPlainList),
  webhooksConnection: listed(webhooksOf, readConnection),
};

const NOBODY = -1;

const commentsOf = (post: PostRow, { caller }: Context): Listed => {
  const resource: Resource = commentResource(post);
  return { type: 'Comment', parent: 'article_id', parentId: may(caller, 'comment.read', resource) ? post.id : NOBODY };
};

export const POST: Resolvers = {
  ...common,
  ...dated,
  title: ({ title }: PostRow) => title,
  body: (post: PostRow, _args, { loaders }) => loaders.body(post),
  tags: ({ tags }: PostRow) => tags,
  status: ({ status }: PostRow) => status,
  cover: ({ cover }: PostRow) => cover,
  // Whoever may read the post as it is may read the picture that it has, but not one that it had.
  coverAddress({ id, cover }: PostRow, _args, { past, uploadKey }) {
    const name = cover === null || past !== undefined ? undefined : blobOfUpload(id, cover);
    return name === undefined ? null : signAddress(uploadKey, name);
  },
  publishedAt: ({ published_at }: PostRow) => published_at?.toISOString() ?? null,
  author: ({ author_id }: PostRow, _args, context) => demandRow(context, 'User', author_id),
  comments: listed(commentsOf, readPlainList),
  commentsConnection: listed(commentsOf, readConnection),
};

export const COMMENT: Resolvers = {
  ...common,
  ...dated,
  text: ({ text }: CommentRow) => text ?? ERASED_TEXT,
  author: ({ author_id }: CommentRow, _args, context) => demandRow(context, 'User', author_id),
  post: ({ article_id }: CommentRow, _args, context) => demandRow(context, 'Post', article_id),
};
