import type { ProblemCode } from '#edge/http/problem.ts';
import { deleted, notFound, REJECTIONS } from '#kernel/base/rejection.ts';
import { HTTP_PROBLEMS } from '#kernel/base/rest/http-problem.ts';
import { type PartName, serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { policyOf } from '#shared/policy.ts';
import { operationsOf } from '#shared/rest/operations.ts';
import { problemsOf } from './problems.ts';

/** Every code that this installation may answer with: of its operations, and of requests beside them. */
export const problemCodesOf = (domain: Domain): readonly ProblemCode[] => {
  const context = { requireIfMatch: true, policy: policyOf(domain) };
  const ofOperations = Object.values(operationsOf(domain)).flatMap((operation) => [
    ...problemsOf(operation, context).values(),
  ]);
  const ofParts = (Object.keys(OF_PARTS) as (keyof typeof OF_PARTS)[]).filter((part) => serves(domain, part));
  const codes = new Set<ProblemCode>([
    ...BESIDE_OPERATIONS,
    ...ofParts.flatMap((part) => OF_PARTS[part]),
    ...Object.keys(domain.kinds).flatMap((kind) => [notFound(kind), deleted(kind)]),
    ...ofOperations.flat(),
  ]);
  const ofAnyDomain = [...Object.keys(HTTP_PROBLEMS), ...Object.keys(REJECTIONS)] as readonly ProblemCode[];
  return [...new Set([...ofAnyDomain.filter((code) => codes.has(code)), ...codes])];
};

/** Of other paths, of the transport, of uploads, and of commands that another role forwards. */
const BESIDE_OPERATIONS = [
  'not_found',
  'method_not_allowed',
  'overloaded',
  'range_not_satisfiable',
  'invalid_assertion',
  'invalid_command',
  'id_taken',
] as const satisfies readonly ProblemCode[];

/** Of what a part serves beside operations. */
const OF_PARTS = {
  graphql: ['preflight_required', 'stream_conflict', 'too_many_streams', 'too_slow'],
  streams: ['too_slow'],
} as const satisfies Partial<Record<PartName, readonly ProblemCode[]>>;
