import type { UserId } from '#kernel/base/brands.ts';
import { streamOf } from '../../testing/graphql/graphql-stream.ts';
import { type Followed, follow } from '../../testing/http/event-source.ts';
import type { ArticleId } from '../publishing-ids.ts';
import type { FollowedRoles } from './followed-roles.ts';
import { type Follower, startFollower } from './follower.ts';
import { type Happened, isVisibleTo, type Viewer } from './visible-events.ts';

/** A subscription, with its user and its interface. */
type FollowerKind = {
  readonly viewer: Viewer;
  readonly asks: string;
  /** Among the events visible to the user. */
  wants(happened: Happened): boolean;
};

type People = { readonly ada: UserId; readonly bob: UserId; readonly article: ArticleId };

export const kindsOf = ({ ada, bob, article }: People): readonly FollowerKind[] => {
  const [anybody, reader, admin]: readonly [Viewer, Viewer, Viewer] = [
    { role: 'anonymous' },
    { role: 'reader', userId: 1 },
    { role: 'admin', userId: 2 },
  ];
  const [first, second]: readonly [Viewer, Viewer] = [
    { role: 'author', userId: ada },
    { role: 'author', userId: bob },
  ];
  const all = () => true;
  const isOneOf = (types: readonly string[]) => (happened: Happened) => types.includes(happened.type);
  const seldom = ['comment.deleted', 'article.drafted'];
  const often = ['article.drafted', 'article.edited', 'comment.added'];
  const aboutArticle = ({ articleId }: Happened) => articleId === article;
  const isComment = isOneOf(['comment.added']);
  return [
    { viewer: admin, asks: '/events', wants: all },
    { viewer: reader, asks: '/events', wants: all },
    { viewer: first, asks: `/events?types=${often}`, wants: isOneOf(often) },
    { viewer: reader, asks: `/events?author=${ada}`, wants: ({ authorId }) => authorId === ada },
    { viewer: second, asks: `/events?article=${article}`, wants: aboutArticle },
    { viewer: second, asks: 'changes(after: $after)', wants: all },
    {
      viewer: admin,
      asks: `changes(types: ${JSON.stringify(seldom)}, after: $after)`,
      wants: isOneOf(seldom),
    },
    { viewer: anybody, asks: 'articlePublished(after: $after)', wants: isOneOf(['article.published']) },
    {
      viewer: anybody,
      asks: `commentAdded(articleId: ${article}, after: $after)`,
      wants: (happened) => isComment(happened) && aboutArticle(happened),
    },
  ];
};

type Options = { readonly roles: FollowedRoles; readonly from: string; readonly random: () => number };

/** Connects to a random process each time. */
export const startKind = ({ viewer, asks }: FollowerKind, { roles, from, random }: Options): Follower =>
  startFollower({
    from,
    random,
    async open(cursor) {
      const urls = roles.urls();
      const url = urls[Math.floor(random() * urls.length)];
      if (url === undefined) throw new Error('nobody serves now');
      // A reconnect repeats the first request, with the last id since.
      const headers = {
        ...(await roles.authorization(viewer)),
        ...(cursor !== from && { 'last-event-id': cursor }),
      };
      return asks.startsWith('/')
        ? follow(withAfter(`${url}${asks}`, from), { headers })
        : subscribe(url, asks, { after: from, headers });
    },
  });

const withAfter = (url: string, after: string): string =>
  `${url}${url.includes('?') ? '&' : '?'}after=${after}`;

const subscribe = (
  url: string,
  field: string,
  { after, headers }: { readonly after: string; readonly headers: Readonly<Record<string, string>> },
): Promise<Followed> =>
  streamOf({ url, fetch }, `subscription ($after: Cursor) { ${field} { cursor type } }`, {
    variables: { after },
    headers,
  });

/** In the form that a follower records. */
export const expectedFor = (
  { viewer, wants }: FollowerKind,
  happened: readonly Happened[],
): readonly string[] =>
  happened
    .filter((each) => wants(each) && isVisibleTo(viewer, each))
    .map(({ cursor, type }) => `${cursor} ${type}`);
