import { afterAll, beforeAll, test } from 'vitest';
import { EXAMPLE_CURSOR } from '#kernel/base/cursor.ts';
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
  // Ignores the release, the log and the address.
  const text = JSON.stringify({ ...document, info: { ...info, version: 'the release' } }).replaceAll(
    START_OF_LOG,
    EXAMPLE_CURSOR,
  );
  expectRecorded(
    'openapi.json',
    printedJson(inOrder(text)).replaceAll(installation.url, 'https://annals.example'),
  );
});

const START_OF_LOG = /(?<=")[0-9a-f]{8}-0(?=\\?")/g;

/** The order of required fields carries no meaning. */
const inOrder = (text: string): unknown =>
  JSON.parse(text, (key, value: unknown) =>
    key === 'required' && Array.isArray(value) ? value.toSorted() : value,
  );
