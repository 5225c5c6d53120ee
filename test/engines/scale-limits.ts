import { relative } from 'node:path';
import { expect, inject, vi } from 'vitest';
import { scaled } from '../../testing/load.ts';
import { countStartsFor } from './starts.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The time limits of a test and a hook on a quiet machine. */
    readonly limitsMs: { readonly test: number; readonly hook: number };
  }
}

const ROOT = `${import.meta.dirname}/../..`;
countStartsFor(inject('project') ?? '', relative(ROOT, expect.getState().testPath ?? ROOT));

/** Before each file, scales vitest's own limits by the load. */
const limitsMs = inject('limitsMs');
vi.setConfig({
  testTimeout: scaled(limitsMs.test),
  hookTimeout: scaled(limitsMs.hook),
  expect: { poll: { timeout: scaled(1_000) } },
});
