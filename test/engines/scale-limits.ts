import { inject, vi } from 'vitest';
import { scaled } from '../../testing/load.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** How long a test and a hook may take on a quiet machine. */
    readonly limitsMs: { readonly test: number; readonly hook: number };
  }
}

/** Before each file, vitest's own limits are made as long as the load demands. */
const limitsMs = inject('limitsMs');
vi.setConfig({
  testTimeout: scaled(limitsMs.test),
  hookTimeout: scaled(limitsMs.hook),
  expect: { poll: { timeout: scaled(1_000) } },
});
