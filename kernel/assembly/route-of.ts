import { StartRefused } from '../base/start-refused.ts';
import { always } from '../conditions/expression.ts';
import { rightsOf } from '../conditions/rights.ts';
import type { FieldDef, Fields } from '../declare/fields.ts';
import type { AnyRoute } from '../declare/route.ts';
import { isBalanced, isEscaping, UNBALANCED } from '../registry/hatches.ts';
import type { Defs, Domain, RouteInfo } from '../registry/registry.ts';
import { FORM, PATHS_OF_THE_KERNEL } from './demand-names.ts';

const CALLER = 'callerId';

export const routeOf = ({ name, spec }: AnyRoute): RouteInfo => {
  const { path, says, right, takes = {}, gives, sql } = spec;
  const asked = defsOf(takes);
  const given: string[] = [];
  const places = new Proxy({} as Readonly<Record<string, string>>, {
    get(_, named) {
      const each = String(named);
      if (each !== CALLER && !Object.hasOwn(asked, each))
        throw new StartRefused(
          `the route ${name} uses the parameter ${each}, which it does not take: use one of ${[...Object.keys(asked), CALLER].join(', ')}.`,
        );
      if (!given.includes(each)) given.push(each);
      return `$${given.indexOf(each) + 1}::${typeOf(asked[each])}`;
    },
  });
  const text = sql(places as never);
  if (isEscaping(text))
    throw new StartRefused(`the route ${name} has more than one statement: remove “;”, “--” and “/*”.`);
  if (!isBalanced(text)) throw new StartRefused(`the route ${name} ${UNBALANCED}`);
  return { name, path, says, right, takes: asked, gives: defsOf(gives), text, given };
};

/** The PostgreSQL type; the caller is an id. */
const typeOf = (def: FieldDef | undefined): string => def?.column ?? 'bigint';

const defsOf = (fields: Fields): Defs =>
  Object.fromEntries(Object.entries(fields).map(([name, { def }]) => [name, def]));

const PATH = /^\/[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;
/** Types with the same form in a query, in JSON and in a column. */
const PLAIN: ReadonlySet<string> = new Set(['text', 'choice', 'integer', 'boolean', 'instant', 'date']);

/** Refuses routes that cannot be served, or that nobody could call. */
export const demandRoutes = (domain: Domain): void => {
  const [wrong] = domain.routes.flatMap((route) =>
    wrongInRoute(domain, route).map((reason) => `the route ${route.name} ${reason}`),
  );
  if (wrong !== undefined) throw new StartRefused(wrong);
};

const wrongInRoute = (domain: Domain, { name, path, right, takes, gives }: RouteInfo): readonly string[] => {
  const { kinds, views, routes } = domain;
  const paths = new Set([
    ...PATHS_OF_THE_KERNEL,
    ...Object.values(kinds).map((kind) => kind.path),
    ...views.map((view) => view.path),
  ]);
  const rights = rightsOf(domain);
  const declared = rights.get(right);
  const isAnybodys =
    declared !== undefined && [...declared.byRole.values()].some((reach) => reach.has(always));
  return [
    ...(FORM.test(name) ? [] : ['has a name that operations cannot have: give it another name.']),
    ...(PATH.test(path) && !paths.has(path.slice(1))
      ? []
      : [
          `has the path ${path}, which is already used, or is not “/” followed by lower-case letters, digits and hyphens: give it another path.`,
        ]),
    ...(routes.filter((each) => each.name === name || each.path === path).length > 1
      ? ['has the name or the path of another route: give it another one.']
      : []),
    ...(declared === undefined
      ? [`requires the right ${right}, which does not exist: use one of ${[...rights.keys()].join(', ')}.`]
      : []),
    ...(declared === undefined || isAnybodys
      ? []
      : [
          `requires the right ${right}, which no role has without a condition: use a right that some role has without a condition.`,
        ]),
    ...[...Object.entries(takes), ...Object.entries(gives)].flatMap(([field, def]) =>
      FORM.test(field) && PLAIN.has(def.kind) && def.personal === undefined && field !== CALLER
        ? []
        : [`has ${field}, which is not a plain value or has a reserved name: give it another type or name.`],
    ),
  ];
};
