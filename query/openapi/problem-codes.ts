import type { ProblemCode } from '#edge/http/problem.ts';
import { deleted, notFound, REJECTIONS } from '#kernel/base/rejection.ts';
import { HTTP_PROBLEMS } from '#kernel/base/rest/http-problem.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { policyOf } from '#shared/policy.ts';
import { ofAggregates, ofViews, operationsOf } from '#shared/rest/operations.ts';
import { ABSENT, OF_THE_KERNEL, problemsOf } from './problems.ts';

/** The kernel's own codes without those of absent parts, and those derived from the names of the domain. */
export const problemCodesOf = (domain: Domain): readonly ProblemCode[] => {
  const all = [...Object.keys(HTTP_PROBLEMS), ...Object.keys(REJECTIONS)] as readonly ProblemCode[];
  const absent = codesOfAbsent(domain);
  const own = all.filter((code) => !absent.has(code));
  const derived = Object.keys(domain.kinds).flatMap((kind) => [notFound(kind), deleted(kind)]);
  const ofOperations = [...ofAggregates(domain), ...ofViews(domain)].flatMap(
    ([, { refusals = [], parameters = {} }]) => [
      ...refusals,
      ...Object.values(parameters).map(({ absent }) => absent),
    ],
  );
  return [...new Set([...own, ...derived, ...ofOperations])];
};

/** The codes that only operations of parts refuse with, which this installation lacks. */
const codesOfAbsent = (domain: Domain): ReadonlySet<ProblemCode> => {
  const served = Object.entries(operationsOf(domain));
  const [ids, parameters] = [
    new Set(served.map(([id]) => id)),
    new Set(served.flatMap(([, { path }]) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))),
  ];
  const context = { requireIfMatch: true, policy: policyOf(domain) };
  const codes = new Set([
    ...Object.entries(OF_THE_KERNEL).flatMap(([id, all]) => (ids.has(id) ? [] : all)),
    ...Object.entries(ABSENT).flatMap(([name, all]) => (parameters.has(name) ? [] : all)),
  ]);
  for (const [id, operation] of served)
    for (const used of problemsOf(id, operation, context).values())
      for (const code of used) codes.delete(code);
  // Any command may be malformed.
  codes.delete('invalid_command');
  return codes;
};
