import { whenAsked } from '#shared/when-asked.ts';
import type { openPoster, Poster } from './post.ts';

/** Loads the HTTP client of webhooks with the first delivery. */
export const openPosterLater = (options: Parameters<typeof openPoster>[0]): Poster => {
  let opened: Poster | undefined;
  const poster = whenAsked(async () => {
    opened = (await import('./post.ts')).openPoster(options);
    return opened;
  });
  return {
    post: async (request, signal) => (await poster()).post(request, signal),
    [Symbol.asyncDispose]: async () => opened?.[Symbol.asyncDispose](),
  };
};
