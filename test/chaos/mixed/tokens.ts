import { setTimeout as delay } from 'node:timers/promises';
import { restClientOf } from '../../../testing/http/rest-client.ts';
import type { Recorder } from './recorder.ts';
import { fetchInTime, reasonOf } from './sender.ts';
import type { Site } from './site.ts';

/** The access token of a service, renewed before it expires. */
export type Tokens = {
  held(): Promise<string>;
  /** The token was refused. */
  drop(token: string | undefined): void;
};

type Options = {
  readonly site: Pick<Site, 'url'>;
  readonly recorder: Recorder;
  readonly service: Site['admin'];
};

const TOKEN_MS = 200_000;
const AGAIN_MS = 100;
const OK = 200;

export const createTokens = ({ site, recorder, service: { clientId, secret } }: Options): Tokens => {
  const ask = restClientOf({ url: site.url, fetch: fetchInTime });
  const authorization = `Basic ${Buffer.from(`${clientId}:${encodeURIComponent(secret)}`).toString('base64')}`;
  const form = {
    body: 'grant_type=client_credentials',
    type: 'application/x-www-form-urlencoded',
    headers: { authorization },
  };
  let held: { readonly token: string; readonly untilMs: number } | undefined;
  let fetching: Promise<string> | undefined;
  const fetchAnother = async (): Promise<string> => {
    for (;;) {
      recorder.attempted();
      const reply = await ask('POST', '/token', form).catch((error: Error) => reasonOf(error));
      if (typeof reply !== 'string' && reply.status === OK) {
        held = {
          token: (reply.body as { access_token: string }).access_token,
          untilMs: Date.now() + TOKEN_MS,
        };
        return held.token;
      }
      recorder.failed(`POST /token ${typeof reply === 'string' ? reply : reply.status}`);
      await delay(AGAIN_MS);
    }
  };
  return {
    async held() {
      if (held !== undefined && Date.now() < held.untilMs) return held.token;
      fetching ??= fetchAnother().finally(() => {
        fetching = undefined;
      });
      return fetching;
    },
    drop(token) {
      if (held?.token === token) held = undefined;
    },
  };
};
