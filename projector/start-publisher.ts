import { openPublication } from '#process/engines/open-change-stream.ts';
import type { PublisherDependencies } from './publish.ts';

type Dependencies = Omit<PublisherDependencies, 'publication'> & { readonly url: string };

/** Starts the publisher that CHANGE_STREAM_URL configures; none if subscribers follow the log directly. */
export const startConfiguredPublisher = async ({
  url,
  ...dependencies
}: Dependencies): Promise<AsyncDisposable> => {
  await using opening = new AsyncDisposableStack();
  const { eventLog, log } = dependencies;
  const publication = await openPublication({ url, eventLog, log });
  if (publication) {
    opening.use(publication);
    const { startPublisher } = await import('./publish.ts');
    opening.use(await startPublisher({ ...dependencies, publication }));
  }
  const resources = opening.move();
  return { [Symbol.asyncDispose]: () => resources.disposeAsync() };
};
