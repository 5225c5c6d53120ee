import type { Served } from './start.ts';

/** What this installation serves. */
export const served: Served = {
  domain: async () => (await import('#domain/publishing.ts')).publishing,
  demo: () => import('#domain/demo/demo.ts'),
};
