import type { Context, Resolver } from '../resolvers/context.ts';
import { readById } from '../resolvers/reads.ts';
import type { Row, TypeName } from '../resolvers/rows.ts';
import type { Happening } from './happening.ts';

/** Each field of the root yields what has happened, as its payload. */
const happening: Resolver = (event: Happening) => event;

/** What it has happened to, as it is now. */
const subject =
  (kind: Happening['kind'], type: TypeName): Resolver =>
  async (event: Happening, _args, context: Context): Promise<Row | null> =>
    event.kind === kind ? await readById(context, type, event.subjectId) : null;

const article = subject('article', 'Post');
const comment = subject('comment', 'Comment');
const user = subject('user', 'User');
const webhook = subject('webhook', 'Webhook');

/** By type; every other field of a payload is a member of the happening. */
export const SUBSCRIPTION: Readonly<Record<string, Readonly<Record<string, Resolver>>>> = {
  Subscription: {
    articlePublished: happening,
    articleChanged: happening,
    commentAdded: happening,
    userChanged: happening,
    changes: happening,
  },
  ArticleChange: { article },
  CommentChange: { comment },
  UserChange: { user },
  Change: { article, comment, user, webhook },
};
