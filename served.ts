import { publishing } from '#domain/publishing.ts';
import type { Served } from './start.ts';

/** What this installation serves. */
export const served: Served = { domain: publishing, demo: () => import('#domain/demo/demo.ts') };
