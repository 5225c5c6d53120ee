import { afterAll, beforeAll, test } from 'vitest';
import { printedJson } from '../../command-line/domain/contract/printed-json.ts';
import { restClientOf } from '../../testing/http/rest-client.ts';
import { type Installation, shareInstallation } from '../engines/installation.ts';
import { expectRecorded } from './expect-recorded.ts';

let installation: Installation;
beforeAll(async () => {
  installation = await shareInstallation();
});
afterAll(() => installation?.[Symbol.asyncDispose]());

test('GET /openapi.json answers what was recorded', async () => {
  const { body } = await restClientOf(installation)('GET', '/openapi.json');
  const { info, ...document } = body as { readonly info: object };
  // A release is no difference, and neither is where it runs.
  const text = printedJson(inOrder({ ...document, info: { ...info, version: 'the release' } }));
  expectRecorded('openapi.json', text.replaceAll(installation.url, 'https://annals.example'));
});

/** In which order the fields are named that must be there, nobody is told anything. */
const inOrder = (document: object): unknown =>
  JSON.parse(JSON.stringify(document), (key, value: unknown) =>
    key === 'required' && Array.isArray(value) ? value.toSorted() : value,
  );
