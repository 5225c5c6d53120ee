import { after, before, describe, test } from 'node:test';
import type { Runner } from '../../testing/describe-domain/host.ts';

/**
 * vitest says so in its own processes, and others inherit it: those that `node --test` starts say that as
 * well.
 */
const isVitest = process.env.VITEST !== undefined && process.env.NODE_TEST_CONTEXT === undefined;

/** What waits has deadlines of its own, which a busy machine makes longer. */
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

/** Of the tests of this process. It must be there at once: tests that are registered later are not run. */
export const runner: Runner = isVitest ? await openVitest() : node;
