import type { Domain } from '#kernel/registry/registry.ts';
import type { ArticleId, CommentId, UserId } from '#shared/brands.ts';
import type { CommandResult } from '#shared/command-gateway/command-gateway.ts';
import type { Command } from '#shared/commands/command.ts';
import { parseInput } from '#shared/http/parse-input.ts';
import { Rejection, type RejectionCode } from '#shared/rejection.ts';
import { operationsOf } from '#shared/rest/operations.ts';
import { pathId } from '#shared/rest/path-id.ts';
import { NewUser, UserPatch } from '#shared/rest/users.ts';
import { tellForm } from '#shared/rest/writes/write-routes.ts';
import type { Upload } from '../uploads/upload.ts';
import type { Context, Resolver } from './context.ts';
import { sendCover } from './covers.ts';
import { readById } from './reads.ts';
import type { Row, TypeName } from './rows.ts';

type Arguments = Readonly<Record<string, unknown>>;

/** What a mutation sends; inputs are held to the schemas of REST. */
export type ToCommand = (args: Arguments, domain: Domain) => Command;

/** As the operation of REST takes it. */
const asSentTo = (domain: Domain, operation: string, input: unknown): object => {
  const schema = operationsOf(domain)[operation]?.body?.['application/json'];
  if (schema === undefined) throw new Error(`${operation} takes nothing`);
  return parseInput(schema, input) as object;
};

const ABSENT = {
  User: 'user_not_found',
  Post: 'article_not_found',
  Comment: 'comment_not_found',
  Webhook: 'webhook_not_found',
} as const satisfies Record<TypeName, RejectionCode>;

/** Sends the command, and answers with what it changed as it is then. */
export const changing =
  (type: TypeName, toCommand: ToCommand): Resolver =>
  async (_mutation, args, context, key): Promise<Row> =>
    readChanged(context, type, (await sendMutation(toCommand, { args, context, key })).id);

export const readChanged = async (context: Context, type: TypeName, id: number): Promise<Row> => {
  const row = await readById(context, type, id);
  if (row) return row;
  throw new Rejection(ABSENT[type]);
};

export const deleting =
  (toCommand: ToCommand): Resolver =>
  async (_mutation, args, context, key) =>
    String((await sendMutation(toCommand, { args, context, key })).id);

export type Sent = { readonly args: Arguments; readonly context: Context; readonly key: string };

export const sendMutation = (toCommand: ToCommand, { args, context, key }: Sent): Promise<CommandResult> =>
  context.send(toCommand(args, context.domain), { field: key, ifVersion: args.ifVersion }).catch(tellForm);

/** What is no id is the id of nothing. */
export const idOf = (type: TypeName, given: unknown): number => {
  const id = pathId(String(given));
  if (id === undefined) throw new Rejection(ABSENT[type]);
  return id;
};

const userId = (given: unknown): UserId => idOf('User', given) as UserId;
const articleId = (given: unknown): ArticleId => idOf('Post', given) as ArticleId;
const commentId = (given: unknown): CommentId => idOf('Comment', given) as CommentId;

/** The author of what is new has another name in REST. */
const withAuthorId = (input: unknown): unknown => {
  const { author, ...rest } = input as Arguments;
  return { ...rest, ...((author ?? null) !== null && { authorId: userId(author) }) };
};

export const MUTATION: Readonly<Record<string, Resolver>> = {
  createUser: changing('User', ({ input }) => ({ type: 'RegisterUser', ...parseInput(NewUser, withoutNulls(input, 'role')) })),
  updateUser: changing('User', ({ id, changes }) => ({ type: 'UpdateUser', userId: userId(id), ...parseInput(UserPatch, changes) })),
  deleteUser: deleting(({ id }) => ({ type: 'DeleteUser', userId: userId(id) })),

  createPost: changing('Post', ({ input }, domain) => ({
    type: 'DraftArticle',
    ...asSentTo(domain, 'createArticle', withAuthorId(input)),
  })),
  updatePost: changing('Post', ({ id, changes }, domain) => ({
    type: 'EditArticle',
    articleId: articleId(id),
    ...asSentTo(domain, 'editArticle', changes),
  })),
  publishPost: changing('Post', ({ id }) => ({ type: 'PublishArticle', articleId: articleId(id) })),
  unpublishPost: changing('Post', ({ id }) => ({ type: 'UnpublishArticle', articleId: articleId(id) })),
  setPostCover: async (_mutation, { id, file, ifVersion }, context, field) =>
    readChanged(context, 'Post', await sendCover(context, { articleId: articleId(id), file: file as Upload, ifVersion, field })),
  removePostCover: changing('Post', ({ id }) => ({ type: 'EditArticle', articleId: articleId(id), cover: null })),
  deletePost: deleting(({ id }) => ({ type: 'DeleteArticle', articleId: articleId(id) })),

  addComment: changing('Comment', ({ postId, input }, domain) => ({
    type: 'AddComment',
    articleId: articleId(postId),
    ...asSentTo(domain, 'addComment', withAuthorId(input)),
  })),
  updateComment: changing('Comment', ({ id, text }, domain) => ({
    type: 'EditComment',
    commentId: commentId(id),
    ...asSentTo(domain, 'editComment', { text }),
  })),
  deleteComment: deleting(({ id }) => ({ type: 'DeleteComment', commentId: commentId(id) })),
};

/** An input that says null where only absence has a meaning says nothing. */
const withoutNulls = (input: unknown, ...names: readonly string[]): unknown =>
  Object.fromEntries(Object.entries(input as Arguments).filter(([name, value]) => value !== null || !names.includes(name)));
