import { auditServer } from 'graphql-http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Installation, shareInstallation } from '../engines/installation.ts';

let installation: Installation;
beforeAll(async () => {
  installation = await shareInstallation();
});
afterAll(() => installation?.[Symbol.asyncDispose]());

/** The number of audits, of MUST, SHOULD and MAY together. */
const AUDITS = 61;

test('every audit of GraphQL over HTTP passes', async () => {
  const results = await auditServer({ url: `${installation.url}/graphql`, fetchFn: installation.fetch });
  expect(
    results.filter(({ status }) => status !== 'ok').map((result) => ({ ...result, response: undefined })),
  ).toEqual([]);
  expect(results).toHaveLength(AUDITS);
});
