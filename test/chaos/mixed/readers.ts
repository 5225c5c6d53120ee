import type { Cursor } from '#kernel/base/cursor.ts';
import { streamOf } from '../../../testing/graphql/graphql-stream.ts';
import { follow } from '../../../testing/http/event-source.ts';
import { type Happened, isVisibleTo, type Viewer } from '../visible-events.ts';
import type { Feed } from './history.ts';
import { type Reader, startReader } from './reader.ts';
import type { Recorder } from './recorder.ts';
import type { Site } from './site.ts';
import type { Tokens } from './tokens.ts';

/** A user with rights to events; without tokens, an anonymous one. */
export type Person = { readonly viewer: Viewer; readonly tokens?: Tokens };

type Kind = {
  readonly name: string;
  readonly person: Person;
  readonly asks: string;
  wants(happened: Happened): boolean;
};
type Options = {
  readonly site: Site;
  readonly recorder: Recorder;
  readonly people: Readonly<Record<'admin' | 'ada' | 'bob', Person>>;
  readonly from: Cursor;
};

type Readers = {
  /** The reader that receives everything. */
  readonly first: Reader;
  readonly all: readonly Reader[];
  /** The received messages of each, beside the expected ones. */
  feeds(happened: readonly Happened[]): readonly Feed[];
};

export const startReaders = ({ site, recorder, people: { admin, ada, bob }, from }: Options): Readers => {
  const all = () => true;
  const edits = ['article.edited', 'comment.added'];
  const kinds: readonly Kind[] = [
    { name: '/events by an administrator', person: admin, asks: '/events', wants: all },
    { name: '/events by an author', person: ada, asks: '/events', wants: all },
    {
      name: '/events of some types',
      person: bob,
      asks: `/events?types=${edits}`,
      wants: ({ type }) => edits.includes(type),
    },
    { name: 'changes by GraphQL', person: bob, asks: 'changes(after: $after)', wants: all },
    {
      ...{
        name: 'articlePublished by anybody',
        person: { viewer: { role: 'anonymous' } },
        asks: 'articlePublished(after: $after)',
      },
      wants: ({ type }) => type === 'article.published',
    },
  ];
  const following = kinds.map((kind) => ({ kind, reader: start(kind, { site, recorder, from }) }));
  const readers = following.map(({ reader }) => reader);
  return {
    first: readers[0] as Reader,
    all: readers,
    feeds: (happened) =>
      following.map(({ kind: { name, person, wants }, reader: { received, contents, visits } }) => ({
        ...{ name, received, contents, visits: visits() },
        expected: happened
          .filter((each) => wants(each) && isVisibleTo(person.viewer, each))
          .map(({ cursor, type }) => `${cursor} ${type}`),
      })),
  };
};

const start = (
  { name, person: { tokens }, asks }: Kind,
  { site, recorder, from }: Pick<Options, 'site' | 'recorder' | 'from'>,
): Reader =>
  startReader({
    name,
    from,
    onFailure: (why) => recorder.failed(`stream ${why}`),
    async open(cursor, onSign) {
      const token = await tokens?.held();
      const headers = {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(cursor !== from && { 'last-event-id': cursor }),
      };
      const stream = asks.startsWith('/')
        ? await follow(`${site.url}${asks}${asks.includes('?') ? '&' : '?'}after=${from}`, {
            headers,
            onSign,
          })
        : await streamOf(site, `subscription ($after: Cursor) { ${asks} { cursor type at subjectId } }`, {
            variables: { after: from },
            headers,
            onSign,
          });
      if (stream.status === UNAUTHENTICATED) tokens?.drop(token);
      return stream;
    },
  });

const UNAUTHENTICATED = 401;
