import { after, before, describe, test } from 'node:test';
import type { Runner } from '../../testing/describe-domain/host.ts';

/**
 * vitest sets VITEST in its own processes, and their children inherit it; those that `node --test` starts set
 * NODE_TEST_CONTEXT as well.
 */
const isVitest = process.env.VITEST !== undefined && process.env.NODE_TEST_CONTEXT === undefined;

/** Waits have their own deadlines, which scale with the load of the machine. */
const NO_LIMIT = 0;

const openVitest = async (): Promise<Runner> => {
  const vitest = await import('vitest');
  return {
    describe: (name, body) => void vitest.describe(name, body),
    test: (name, body) => void vitest.test(name, { timeout: NO_LIMIT }, body),
    beforeAll: (work) => vitest.beforeAll(work, NO_LIMIT),
    afterAll: (work) => vitest.afterAll(work, NO_LIMIT),
  };
};

const node: Runner = {
  describe: (name, body) => void describe(name, body),
  test: (name, body) => void test(name, body),
  beforeAll: (work) => before(work),
  afterAll: (work) => after(work),
};

/** The runner of this process's tests. It must be ready at once: tests registered later do not run. */
export const runner: Runner = isVitest ? await openVitest() : node;
