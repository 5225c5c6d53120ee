import type { Row } from '#kernel/registry/registry.ts';
import type { GraphqlReply } from '../graphql/graphql-client.ts';
import type { Reply } from '../http/rest-client.ts';
import type { Outcome } from './rights-expected.ts';

/** The form names a target that the sender may not read, which is refused before the right is asked for. */
export const UNNAMED = 'names what it may not read';

/** The result of an attempt. */
export type Seen = {
  /** Another text describes a refusal that is not as documented. */
  readonly outcome: Outcome | string;
  readonly isDone: boolean;
  readonly said: string;
};

/** Refusals are problem documents, and say what a client needs for another attempt. */
export const seenByRest = ({ status, headers, body }: Reply, scope: string): Seen => {
  const said = `${status} ${JSON.stringify(body).slice(0, SAID_MAX)}`;
  const seen = (outcome: string): Seen => ({ outcome, isDone: status < 300, said });
  if (status >= 500) return seen('failed');
  if (status !== 401 && status !== 403 && status !== 404) return seen('allowed');
  const { code, details } = body as { readonly code?: string; readonly details?: Row };
  if (!/^application\/problem\+json/.test(headers.get('content-type') ?? '')) return seen('no problem');
  if (status === 404) return seen('absent');
  if (status === 401)
    return seen(/^Bearer/.test(headers.get('www-authenticate') ?? '') ? String(code) : 'no challenge');
  return seen(code === 'insufficient_scope' && details?.scope !== scope ? 'another scope' : String(code));
};
const SAID_MAX = 300;

/** For who the caller is. */
const REFUSED: ReadonlySet<string> = new Set(['forbidden', 'person_releases'] satisfies Outcome[]);

/** Refused by GraphQL while the operation ran. */
export const LATE = 'refused late';

/** An operation without the rights to all of it is refused before any of it runs. */
export const seenByGraphql = (
  { status, headers, data, errors }: GraphqlReply<Row | null | undefined>,
  scope: string,
): Seen => {
  const { code, committed }: { readonly code?: string; readonly committed?: unknown } =
    errors?.[0]?.extensions ?? {};
  const isNull =
    data?.tried == null || (Array.isArray(data.tried) && data.tried[0] == null && data.tried.length > 0);
  const isDone = code === undefined && !isNull;
  const said = `${status} ${JSON.stringify({ data, errors }).slice(0, SAID_MAX)}`;
  const challenge = headers.get('www-authenticate') ?? '';
  const seen = (outcome: string): Seen => ({ outcome, isDone, said });
  // The writer may not read what was written.
  if (committed === true) return { outcome: 'allowed', isDone: true, said };
  switch (code) {
    case undefined:
      return seen(isNull ? 'absent' : 'allowed');
    case 'unauthenticated':
      return seen(data == null && status === 401 && /^Bearer/.test(challenge) ? code : LATE);
    case 'insufficient_scope':
      return seen(data == null && status === 403 && challenge.includes(`scope="${scope}"`) ? code : LATE);
    case 'internal':
      return seen('failed');
    default:
      return seen(code.endsWith('_not_found') ? 'absent' : REFUSED.has(code) ? code : 'allowed');
  }
};
