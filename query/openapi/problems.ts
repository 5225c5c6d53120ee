import { describeProblem, type ProblemCode } from '#edge/http/problem.ts';
import { deleted, notFound } from '#kernel/base/rejection.ts';
import { hasEntityTag, isOfLog, type RestOperation } from '#kernel/base/rest/operation.ts';
import type { Policy } from '#shared/policy.ts';
import { allowsAnonymous } from './security.ts';

/** The problems of every request: a token is checked even if it is not needed. */
export const ALWAYS = [
  'malformed_request',
  'invalid_token',
  'invalid_dpop_proof',
  'insufficient_scope',
  'not_acceptable',
  'request_timeout',
  'rate_limited',
  'headers_too_large',
  'internal',
  'unavailable',
] as const satisfies readonly ProblemCode[];

/** By path parameter, for resources that are not deletable aggregates. */
const ABSENT: Readonly<Record<string, readonly ProblemCode[]>> = {
  eventId: ['event_not_found'],
  webhookId: ['webhook_not_found', 'webhook_deleted'],
  deliveryId: ['delivery_not_found'],
  replayId: ['replay_not_found'],
  orderId: ['order_not_found'],
  stream: ['not_parked'],
  clientId: ['client_not_found'],
  tokenId: ['token_not_found'],
  // Ending one that has ended succeeds.
  sessionId: [],
  invitationId: [],
};

const absentFor = (parameter: string): readonly ProblemCode[] => {
  const kind = parameter.replace(/Id$/, '');
  return ABSENT[parameter] ?? [notFound(kind), deleted(kind)];
};

/** The refusals of an operation, by status. */
export const problemsOf = (
  operation: RestOperation,
  { requireIfMatch, policy }: { readonly requireIfMatch: boolean; readonly policy: Policy },
): ReadonlyMap<number, readonly ProblemCode[]> => {
  const own = isOfLog(operation) ? ofLog(operation, requireIfMatch) : besideLog(operation);
  const unauthenticated: readonly ProblemCode[] = allowsAnonymous(policy, operation.right)
    ? []
    : ['unauthenticated'];
  const codes = new Set<ProblemCode>([...ALWAYS, ...unauthenticated, ...own, ...rulesOf(operation)]);
  return Map.groupBy(
    [...codes].toSorted((one, other) => describeProblem(one).status - describeProblem(other).status),
    (code) => describeProblem(code).status,
  );
};

const rulesOf = (operation: RestOperation): readonly ProblemCode[] => [
  ...(operation.refusals ?? []),
  ...(operation.answer.isStreamed === undefined ? [] : (['too_many_streams'] as const)),
];

const ofLog = (operation: RestOperation, requireIfMatch: boolean): readonly ProblemCode[] =>
  operation.method === 'GET' ? ofRead(operation) : ofWrite(operation, requireIfMatch);

const besideLog = (operation: RestOperation): readonly ProblemCode[] => [
  'forbidden',
  ...absentOf(operation),
  ...ofBody(operation.body),
  ...(operation.method === 'GET' ? [] : (['idempotency_key_reused', 'idempotency_key_in_use'] as const)),
  ...(operation.method === 'POST' ? [] : (['version_mismatch'] as const)),
];

const ofRead = (operation: RestOperation): readonly ProblemCode[] => {
  // A read does not reveal that the item was deleted.
  const absent = absentOf(operation).filter((code) => code.endsWith('_not_found'));
  const then: readonly ProblemCode[] =
    operation.query && 'at' in operation.query.shape ? asOf(operation) : [];
  return [
    'invalid_parameter',
    'unknown_cursor',
    'cursor_of_lost_history',
    'not_yet_visible',
    ...then,
    ...absent,
    ...(hasEntityTag(operation) ? (['version_mismatch'] as const) : []),
    ...(absent.length > 0 ? (['parked'] as const) : []),
  ];
};

/** Time travel shows auditors that an item was deleted by then. All pages of a list are of one time. */
const asOf = (operation: RestOperation): readonly ProblemCode[] => {
  const absent = absentOf(operation);
  if (absent.length === 0) return [];
  return [
    'not_there_then',
    ...(operation.answer.kind !== 'list' ? (['version_not_found'] as const) : []),
    ...absent,
  ];
};

const ofWrite = (operation: RestOperation, requireIfMatch: boolean): readonly ProblemCode[] => [
  'forbidden',
  ...(isOperatorCommand(operation) ? [] : (['conflict'] as const)),
  'invalid_parameter',
  ...absentOf(operation),
  ...ofBody(operation.body),
  'idempotency_key_reused',
  ...(isOperatorCommand(operation) ? [] : (['idempotency_key_in_use'] as const)),
  ...(isNew(operation) ? [] : (['version_mismatch'] as const)),
  ...(!isNew(operation) && requireIfMatch ? (['precondition_required'] as const) : []),
  ...(absentOf(operation).length > 0 && !isOperatorCommand(operation) ? (['parked'] as const) : []),
];

const isOperatorCommand = ({ answer }: RestOperation): boolean => answer.kind === 'order';
const isNew = (operation: RestOperation): boolean =>
  (operation.answer.status === 201 && !operation.answer.isOfItem) || isOperatorCommand(operation);

const absentOf = ({ path, parameters }: RestOperation): readonly ProblemCode[] =>
  [...path.matchAll(/\{(\w+)\}/g)].flatMap(([, name = '']) => parameters?.[name]?.absent ?? absentFor(name));

const ofBody = (body: RestOperation['body']): readonly ProblemCode[] => {
  if (body === undefined) return [];
  const types = Object.keys(body);
  const forms: readonly ProblemCode[] = ['body_too_large', 'unsupported_media_type', 'invalid_request'];
  const isJson = types.some((type) => type.endsWith('json'));
  const isPatch = types.includes('application/json-patch+json');
  return [
    ...forms,
    ...(isJson ? (['malformed_body'] as const) : []),
    ...(isPatch ? (['patch_not_applicable', 'patch_test_failed'] as const) : []),
  ];
};
