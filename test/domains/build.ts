import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import * as fields from '#kernel/declare/fields.ts';
import * as views from '#kernel/declare/view.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { message, sender } from '#kernel/sender/sender.ts';
import type { DomainPlan } from './plan.ts';
import { bodyOf, FIELD_TYPES, VALUES } from './source.ts';

/** Everything that a declaration imports. */
const IMPORTED: Readonly<Record<string, unknown>> = {
  ...{ assemble, domain, message, sender },
  ...Object.fromEntries(
    [...FIELD_TYPES, ...VALUES].map((name) => [
      name,
      ({ ...fields, ...views } as Readonly<Record<string, unknown>>)[name],
    ]),
  ),
};

/** Runs the printed declaration, so that what fails is what is printed. */
export const build = (plan: DomainPlan): Domain => evaluate(bodyOf(plan));

export const evaluate = (body: string): Domain =>
  new Function(...Object.keys(IMPORTED), body)(...Object.values(IMPORTED)) as Domain;
