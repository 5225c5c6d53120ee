import type { Domain } from '#kernel/registry/registry.ts';
import { operationsOf } from '#shared/rest/operations.ts';
import type { RestClient } from '../http/rest-client.ts';

/** Of commands that record one. */
export const REASON_OF_TESTS = 'Tried by a test';

/** Says why wherever an operation records it, so that a missing reason is never what refuses a request. */
export const withReasons = (domain: Domain, ask: RestClient): RestClient => {
  const recording = Object.values(operationsOf(domain)).flatMap(({ method, path, reason }) =>
    reason === undefined ? [] : [{ method, path: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`) }],
  );
  if (recording.length === 0) return ask;
  return (method, path, asked = {}) => {
    const [bare = ''] = path.split('?');
    const isRecorded = recording.some((each) => each.method === method && each.path.test(bare));
    if (!isRecorded) return ask(method, path, asked);
    const reason = encodeURIComponent(REASON_OF_TESTS);
    return ask(method, path, { ...asked, headers: { reason, ...asked.headers } });
  };
};
