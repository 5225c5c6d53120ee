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

test('GET /event-types gives the recorded answer', async () => {
  const { body } = await restClientOf(installation)('GET', '/event-types');
  const types = (body as readonly { readonly type: string }[]).map(({ type, ...rest }) => [type, rest]);
  expectRecorded('event-types.json', printedJson(Object.fromEntries(types)));
});
