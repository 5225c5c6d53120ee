import { describeProblem, type ProblemCode } from '#edge/http/problem.ts';
import { oncePer } from '#kernel/base/once-per.ts';
import { declaredRefusalsOf } from '#kernel/decide/guards.ts';
import type { Domain } from '#kernel/registry/registry.ts';

/** The title of a refusal, by the domain’s author or the kernel. */
export const titleOf = (domain: Domain, code: ProblemCode): string =>
  titlesOf(domain).get(code) ?? describeProblem(code).title;

const titlesOf = oncePer(
  ({ kinds }: Domain): ReadonlyMap<string, string> =>
    new Map(
      Object.values(kinds)
        .flatMap(declaredRefusalsOf)
        .flatMap(({ code, says }) => (says === undefined ? [] : [[code, says] as const])),
    ),
);
