import { test as base } from 'vitest';
import { graphqlClientOf } from '../../testing/graphql/graphql-client.ts';
import { streamOf } from '../../testing/graphql/graphql-stream.ts';
import { openPeople } from '../../testing/http/people.ts';
import { restClientOf } from '../../testing/http/rest-client.ts';
import { restSessionOver } from '../../testing/http/rest-session.ts';
import { startWebhookSink } from '../../testing/http/webhook-sink.ts';
import { shareInstallation, startInstallation } from './installation.ts';
import { openPublishing } from './publishing.ts';

/**
 * An installation for each file, with clients, two authors and a receiver of webhooks. Each part starts when
 * a test asks for it.
 */
export const test = base
  .extend('installationOptions', { scope: 'file' }, {} as Parameters<typeof startInstallation>[0])
  .extend('installation', { scope: 'file' }, async ({ installationOptions }, { onCleanup }) => {
    const installation = await startInstallation(installationOptions);
    onCleanup(() => installation[Symbol.asyncDispose]());
    return installation;
  })
  .extend('ask', { scope: 'file' }, ({ installation }) => restClientOf(installation))
  .extend('session', { scope: 'file' }, ({ ask }) => restSessionOver(ask))
  .extend('graphql', { scope: 'file' }, ({ installation }) => graphqlClientOf(installation))
  .extend('graphqlUrl', { scope: 'file' }, ({ installation }) => `${installation.url}/graphql`)
  .extend('people', { scope: 'file' }, ({ installation }) => openPeople(installation))
  .extend('ada', { scope: 'file' }, ({ people }) => people.signUp('Ada'))
  .extend('headersOfAda', { scope: 'file' }, ({ ada }) => ({ authorization: `Bearer ${ada.token}` }))
  .extend('rita', { scope: 'file' }, ({ people }) => people.signUp('Rita'))
  .extend('publishing', { scope: 'file' }, ({ ada, installation }) => openPublishing(installation, ada))
  /** The streams of a test end with it. */
  .extend('openStream', ({ installation }, { onCleanup }) => {
    const open = new AsyncDisposableStack();
    onCleanup(() => open.disposeAsync());
    return async (query: string, options?: Parameters<typeof streamOf>[2]) =>
      open.use(await streamOf(installation, query, options));
  })
  .extend('sink', { scope: 'file' }, async ({ installation: _delivering }, { onCleanup }) => {
    const sink = await startWebhookSink();
    onCleanup(() => sink[Symbol.asyncDispose]());
    return sink;
  });

/** The same on an installation that consecutive files share: each looks only at its own data. */
export const sharedTest = test.extend('installation', { scope: 'file' }, ({ installationOptions }) =>
  shareInstallation(installationOptions),
);
