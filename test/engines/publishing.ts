import { graphqlClientOf } from '../../testing/graphql/graphql-client.ts';
import type { TokenHolder } from '../../testing/http/people.ts';
import { restClientOf } from '../../testing/http/rest-client.ts';
import { until } from '../../testing/until.ts';
import type { Installation } from './installation.ts';

/** An author who publishes, and subscriptions to `articlePublished`. */
export type Publishing = {
  publish(title: string): Promise<string>;
  /** Publishes until the first event arrives: clients do not report when they are connected. */
  untilReceived(titles: readonly string[], prefix: string): Promise<void>;
  /** The current cursor of the log. */
  cursor(): Promise<string>;
};

export const PUBLISHED =
  'subscription ($after: Cursor) { articlePublished(after: $after) { cursor article { title author { name } } } }';
export type Published = { articlePublished: { cursor: string; article: { title: string } } };

const CREATE =
  'mutation Create($title: String!) { createPost(input: { title: $title, body: "", publish: true }) { id } }';

export const openPublishing = (installation: Installation, { token }: TokenHolder): Publishing => {
  const ask = graphqlClientOf(installation);
  const publish = async (title: string): Promise<string> => {
    const { data } = await ask<{ createPost: { id: string } }>(CREATE, { token, variables: { title } });
    return data.createPost.id;
  };
  return {
    publish,
    async untilReceived(titles, prefix) {
      const next = numbered(prefix);
      await until(async () => {
        await publish(next());
        // Articles published before the subscription may still arrive.
        return titles.some((title) => title.startsWith(prefix));
      }, Boolean);
    },
    async cursor() {
      const made = await restClientOf(installation)('POST', '/articles', {
        token,
        body: { title: 'Cursor', body: '', tags: [] },
      });
      return made.headers.get('consistency-token') ?? '';
    },
  };
};

export const numbered = (prefix: string): (() => string) => {
  let count = 0;
  return () => {
    count += 1;
    return `${prefix} ${count}`;
  };
};
