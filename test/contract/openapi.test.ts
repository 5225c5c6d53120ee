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

test('GET /openapi.json gives the recorded answer', async () => {
  const { body } = await restClientOf(installation)('GET', '/openapi.json');
  const { info, ...document } = body as { readonly info: object };
  // Ignores the release and the address.
  const text = printedJson(inOrder({ ...document, info: { ...info, version: 'the release' } }));
  expectRecorded('openapi.json', text.replaceAll(installation.url, 'https://annals.example'));
});

/** The order of required fields carries no meaning. */
const inOrder = (document: object): unknown =>
  JSON.parse(JSON.stringify(document), (key, value: unknown) =>
    key === 'required' && Array.isArray(value) ? value.toSorted() : value,
  );
