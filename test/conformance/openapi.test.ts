import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPeople, type People } from '../../testing/http/people.ts';
import { restClientOf } from '../../testing/http/rest-client.ts';
import { scaled } from '../../testing/load.ts';
import { type Installation, startInstallation } from '../engines/installation.ts';
import { installSchemathesis, pythonMissing, runSchemathesis } from '../engines/schemathesis.ts';

if (pythonMissing !== undefined)
  process.stderr.write(`/openapi.json is not held against the answers: ${pythonMissing}.\n`);

/** CONFORMANCE_SEED and CONFORMANCE_SECONDS choose another run, or a longer one. */
const seed = Number(process.env.CONFORMANCE_SEED || 1);
const seconds = Number(process.env.CONFORMANCE_SECONDS || 30);
const THINGS = 20;

describe.skipIf(pythonMissing !== undefined)(
  'schemathesis finds no server error, and no answer that /openapi.json does not describe',
  () => {
    let installation: Installation;
    let people: People;
    let program: string;
    beforeAll(async () => {
      [installation, program] = await Promise.all([startInstallation(), installSchemathesis()]);
      people = await openPeople(installation);
    }, scaled(300_000));
    afterAll(() => installation?.[Symbol.asyncDispose]());

    /** Never the administrator's own, who would be deleted then. */
    const makeThings = async () => {
      const ask = restClientOf(installation);
      const make = async (path: string, body: object): Promise<number> =>
        ((await ask('POST', path, { token: people.administrator.token, body })).body as { id: number }).id;
      const ids: Record<'userId' | 'articleId' | 'commentId' | 'webhookId', number[]> = {
        userId: [],
        articleId: [],
        commentId: [],
        webhookId: [],
      };
      const clients: string[] = [];
      for (let times = 0; times < THINGS; times += 1) {
        ids.userId.push(await make('/users', { name: `User ${times}`, role: 'author' }));
        const articleId = await make('/articles', {
          title: `Article ${times}`,
          body: 'Text.',
          tags: [],
          publish: times % 3 > 0,
        });
        ids.articleId.push(articleId);
        ids.webhookId.push(
          await make('/webhooks', { url: 'http://127.0.0.1:9/', eventTypes: ['client.deleted'] }),
        );
        if (times % 3 > 0)
          ids.commentId.push(await make(`/articles/${articleId}/comments`, { text: 'A comment.' }));
        const body = {
          name: `Client ${times}`,
          grantTypes: ['client_credentials'],
          tokenEndpointAuthMethod: 'client_secret_basic',
        };
        const made = await ask('POST', '/clients', { token: people.administrator.token, body });
        clients.push((made.body as { clientId: string }).clientId);
      }
      return { ...ids, clientId: clients };
    };

    test.each(['anonymous', 'administrator'] as const)('seen by an %s', async (who) => {
      const token = who === 'administrator' ? people.administrator.token : undefined;
      const verdict = await runSchemathesis(program, {
        url: installation.url,
        token,
        ids: await makeThings(),
        seconds,
        seed,
      });
      expect(verdict.passed, verdict.report).toBe(true);
      const failures = installation
        .printed()
        .split('\n')
        .filter((line) => line.includes('"A request failed."'));
      expect(failures).toEqual([]);
    });
  },
);
